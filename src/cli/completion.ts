import { systemClock } from '../clock/clock.ts';
import { createListWatch } from '../kube/api/http-list-watch.ts';
import { keyOf } from '../kube/api/object-key.ts';
import type { KubeObject } from '../kube/api/types.ts';
import { createTransport } from '../kube/http/pooled-transport.ts';
import { MANAGED_SOURCE, vocabularyOf } from '../mirror/vocabulary.ts';
import { UsageError } from './errors.ts';
import { type CommandLine, type Commands, readCommandLine } from './flags/command-line.ts';
import { flagValues } from './flags/flag-values.ts';
import { CLUSTER_FLAGS, RULE_FLAGS } from './flags/run-flags.ts';
import type { ProcessIo } from './io.ts';
import { clusterFor } from './session/from-flags.ts';
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

/** What decides which names there are. */
const NAMES_FLAGS = { ...CLUSTER_FLAGS, domain: RULE_FLAGS.domain };

/**
 * What the last of `words` may become, one a line. Names come from the cluster that the words
 * before choose; without one, there are none.
 */
export async function complete(words: readonly string[], commands: Commands, io: ProcessIo): Promise<string> {
  const typed = words.at(-1) ?? '';
  const line = readCommandLine(words.slice(0, -1), commands);
  const candidates =
    line.command === undefined ? [...commands.keys()] : await ofCommand(line, typed, commands, io);
  return candidates.flatMap((each) => (each.startsWith(typed) ? [`${each}\n`] : [])).join('');
}

async function ofCommand(
  { command = '', given }: CommandLine,
  typed: string,
  commands: Commands,
  io: ProcessIo,
): Promise<readonly string[]> {
  const flags = commands.get(command) ?? {};
  const { name = '', value } = given.at(-1) ?? {};
  const flag = value === undefined && Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (flag !== undefined) {
    return name === 'namespace' ? names('namespaces', given, io) : (flag.kind.choices ?? []);
  }
  if (typed.startsWith('-')) return Object.keys(flags).map((each) => `--${each}`);
  return TAKE_SOURCES.includes(command) ? names('sources', given, io) : [];
}

/** At most 500; none if the cluster cannot be read. */
async function names(
  what: 'namespaces' | 'sources',
  given: CommandLine['given'],
  io: ProcessIo,
): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(TIME_LIMIT_MS);
  try {
    const args = Object.fromEntries(given.map(({ name, value }) => [name, value]));
    const flags = flagValues(NAMES_FLAGS, args, io.env);
    const transport = createTransport(clusterFor(flags, io), {
      clock: systemClock,
      userAgent: USER_AGENT,
      signal,
    });
    const sources = {
      path: '/api/v1/configmaps',
      labelSelector: `${vocabularyOf(flags.domain).managed}=${MANAGED_SOURCE}`,
    };
    const list = what === 'sources' ? sources : { path: '/api/v1/namespaces' };
    const objects = createListWatch<KubeObject>(transport, { ...list, metadataOnly: true });
    const { items } = await objects.list({ limit: MOST_OBJECTS }, signal);
    await transport.close();
    return items.map(keyOf);
  } catch {
    return [];
  }
}
