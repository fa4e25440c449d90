import { systemClock } from '../clock/clock.ts';
import { createListWatch } from '../kube/api/http-list-watch.ts';
import { keyOf } from '../kube/api/object-key.ts';
import type { KubeObject } from '../kube/api/types.ts';
import { contextNames, loadCluster } from '../kube/config/kube-config.ts';
import { createTransport } from '../kube/http/pooled-transport.ts';
import { DEFAULT_DOMAIN, MANAGED_SOURCE, vocabularyOf } from '../mirror/vocabulary.ts';
import { UsageError } from './errors.ts';
import type { Flag, Flags } from './flags/flag.ts';
import { environmentVariable, flagAt } from './flags/flag-values.ts';
import { type Kind, NAMESPACE, NAMESPACES, PATTERNS, SWITCH } from './flags/values.ts';
import type { ProcessIo } from './io.ts';
import { USER_AGENT } from './version.ts';

/** What the scripts call with the words of the command line; the last one is being typed. */
export const COMPLETE = '__complete';

/** Longest time (ms) to wait for a list after Tab. */
const TIME_LIMIT_MS = 2_000;
const MOST_OBJECTS = 500;
/** Commands whose operands are sources. */
const TAKE_SOURCES: readonly string[] = ['status', 'explain', 'history', 'undo', 'release'];
/** Kinds of flags whose values are namespaces. */
const TAKE_NAMESPACES: readonly Kind<unknown>[] = [NAMESPACE, NAMESPACES, PATTERNS];

/** A script for each shell, and for kubectl, which completes plugins by a program of their own. */
const SCRIPTS: Readonly<Record<string, (program: string) => string>> = {
  // Bash makes words of = and :, and replaces what follows the last of them.
  bash: (program) => `_${word(program)}() {
  local IFS=$'\\n' part words=() line=\${COMP_LINE#*"\${COMP_WORDS[0]}"}
  for part in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $line == [[:space:]]* ]]; then words+=("$part"); else words[\${#words[@]}-1]+=$part; fi
    line=\${line#"\${line%%[![:space:]]*}"}
    line=\${line#"$part"}
  done
  COMPREPLY=($(${program} ${COMPLETE} "\${words[@]}" 2>/dev/null))
  [[ $part == [=:]* ]] && part=
  part=\${words[\${#words[@]}-1]%"$part"}
  COMPREPLY=("\${COMPREPLY[@]#"$part"}")
}
complete -o default -F _${word(program)} ${program}
`,
  zsh: (program) => `#compdef ${program}
_${word(program)}() {
  local -a found
  found=(\${(f)"$(${program} ${COMPLETE} "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  compadd -- $found
}
compdef _${word(program)} ${program}
`,
  fish: (program) =>
    `complete -c ${program} -f -a '(${program} ${COMPLETE} (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'\n`,
  // Cobra wants values without their flag. Its directive 4: no file names.
  // https://krew.sigs.k8s.io/docs/developer-guide/plugin-completion/
  kubectl: () => `#!/bin/sh
# Save it on the PATH as kubectl_complete-mirror, executable.
kubectl-mirror ${COMPLETE} "$@" 2>/dev/null | sed 's/^-[^=]*=//'
echo :4
`,
};

const word = (program: string) => program.replaceAll('-', '_');

export const SHELLS = Object.keys(SCRIPTS);

/** @throws UsageError */
export function completionScript(shell = ''): string {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) {
    throw new UsageError(
      `completion: ${shell && `"${shell}" is not among these; `}name one of ${SHELLS.join(', ')}`,
    );
  }
  return script('mirror-controller');
}

/**
 * What the last of `words` may become, one a line. `commands`: the flags of each. Names come from
 * the cluster that the words before choose; without one, there are none.
 */
export async function complete(
  words: readonly string[],
  commands: ReadonlyMap<string, Flags>,
  io: ProcessIo,
): Promise<string> {
  const [command = ''] = words;
  const typed = words.at(-1) ?? '';
  const flags = commands.get(command);
  const candidates = words.length <= 1 ? [...commands.keys()] : await ofCommand(words, flags ?? {}, io);
  return candidates.flatMap((each) => (each.startsWith(typed) ? [`${each}\n`] : [])).join('');
}

async function ofCommand(words: readonly string[], flags: Flags, io: ProcessIo): Promise<readonly string[]> {
  const [command = ''] = words;
  const typed = words.at(-1) ?? '';
  const [joined = '', own] = /^(-[^=]+)=/.exec(typed) ?? [];
  const named = flagAt(own ?? words.at(-2), flags);
  if (named !== undefined && (own !== undefined || named[1].kind !== SWITCH)) {
    const values = await valuesOf(named, words, flags, io);
    return named[1].kind.list ? inList(values, joined, typed) : values.map((value) => joined + value);
  }
  if (typed.startsWith('-')) return Object.keys(flags).map((name) => `--${name}`);
  if (command === 'completion') return SHELLS;
  if (!TAKE_SOURCES.includes(command)) return [];
  const { managed } = vocabularyOf(givenValue('domain', words, flags, io.env) ?? DEFAULT_DOMAIN);
  return names(words, flags, io, '/api/v1/configmaps', `${managed}=${MANAGED_SOURCE}`);
}

/** Each value as the next item of the list that was typed after `joined`. */
function inList(values: readonly string[], joined: string, typed: string): readonly string[] {
  const before = typed.slice(joined.length).split(',').slice(0, -1);
  return values
    .filter((value) => !before.includes(value))
    .map((value) => joined + [...before, value].join(','));
}

async function valuesOf(
  [name, { kind }]: readonly [string, Flag<unknown>],
  words: readonly string[],
  flags: Flags,
  io: ProcessIo,
): Promise<readonly string[]> {
  if (TAKE_NAMESPACES.includes(kind)) return names(words, flags, io, '/api/v1/namespaces');
  if (name === 'context') return contexts(words, flags, io);
  return kind.choices ?? [];
}

/** Of the kubeconfig; none if it cannot be read. */
function contexts(words: readonly string[], flags: Flags, { env }: ProcessIo): readonly string[] {
  try {
    return contextNames({ kubeconfig: givenValue('kubeconfig', words, flags, env), env });
  } catch {
    return [];
  }
}

/** On the command line, else in the environment. */
function givenValue(
  name: string,
  words: readonly string[],
  flags: Flags,
  env: ProcessIo['env'],
): string | undefined {
  const at = words.findIndex((each) => flagAt(each, flags)?.[0] === name);
  if (at >= 0) return words[at + 1];
  const joined = words.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3);
  return joined ?? (env[environmentVariable(name)] || undefined);
}

/** Keys or names of a list, at most 500; none if the cluster cannot be read. */
async function names(
  words: readonly string[],
  flags: Flags,
  { env }: ProcessIo,
  path: string,
  labelSelector?: string,
): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    const kubeconfig = givenValue('kubeconfig', words, flags, env);
    const context = givenValue('context', words, flags, env);
    const cluster = loadCluster({ kubeconfig, context, env });
    const transport = createTransport(cluster, { clock: systemClock, userAgent: USER_AGENT, signal });
    const list = { path, metadataOnly: true, ...(labelSelector !== undefined && { labelSelector }) };
    const { items } = await createListWatch<KubeObject>(transport, list).list(
      { limit: MOST_OBJECTS },
      signal,
    );
    await transport.close();
    return items.map(keyOf);
  } catch {
    return [];
  }
}
