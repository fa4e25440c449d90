import { systemClock } from '../clock/clock.ts';
import { createListWatch } from '../kube/api/http-list-watch.ts';
import { keyOf } from '../kube/api/object-key.ts';
import type { KubeObject } from '../kube/api/types.ts';
import { loadCluster } from '../kube/config/kube-config.ts';
import { createTransport } from '../kube/http/pooled-transport.ts';
import { DEFAULT_DOMAIN, MANAGED_SOURCE, vocabularyOf } from '../mirror/vocabulary.ts';
import { UsageError } from './errors.ts';
import type { Flags } from './flags/flag.ts';
import { environmentVariable, flagAt } from './flags/flag-values.ts';
import { SWITCH } from './flags/values.ts';
import type { ProcessIo } from './io.ts';
import { USER_AGENT } from './version.ts';

/** What the scripts call with the words of the command line; the last one is being typed. */
export const COMPLETE = '__complete';

/** Longest time (ms) to wait for a list after Tab. */
const TIME_LIMIT_MS = 2_000;
const MOST_OBJECTS = 500;
/** Commands whose operands are sources. */
const TAKE_SOURCES: readonly string[] = ['status', 'explain', 'history', 'undo', 'release'];

/** A script for each shell, and for kubectl, which completes plugins by a program of their own. */
const SCRIPTS: Readonly<Record<string, (program: string) => string>> = {
  bash: (program) => `_${word(program)}() {
  local IFS=$'\\n'
  COMPREPLY=($(${program} ${COMPLETE} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
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
  // Directive 4 of cobra: no file names.
  // https://krew.sigs.k8s.io/docs/developer-guide/plugin-completion/
  kubectl: () => `#!/bin/sh
# Save it on the PATH as kubectl_complete-mirror, executable.
kubectl-mirror ${COMPLETE} "$@" 2>/dev/null
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
  const before = flagAt(words.at(-2), flags);
  if (before !== undefined && before[1].kind !== SWITCH) {
    const [name, { kind }] = before;
    if (name === 'namespace') return names(words, flags, io, '/api/v1/namespaces');
    return kind.choices ?? [];
  }
  if (words.at(-1)?.startsWith('-')) return Object.keys(flags).map((name) => `--${name}`);
  if (command === 'completion') return SHELLS;
  if (!TAKE_SOURCES.includes(command)) return [];
  const { managed } = vocabularyOf(givenValue('domain', words, flags, io.env) ?? DEFAULT_DOMAIN);
  return names(words, flags, io, '/api/v1/configmaps', `${managed}=${MANAGED_SOURCE}`);
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
