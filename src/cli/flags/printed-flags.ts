import { shellQuoted } from '../../mirror/shell-quoted.ts';
import { LOOK_FLAGS } from './command-flags.ts';
import type { Flag, FlagValues } from './flag.ts';
import { type Arguments, argumentOf, configFileIn } from './flag-values.ts';
import type { CLUSTER_FLAGS } from './run-flags.ts';
import { SWITCH } from './values.ts';

/**
 * To append to a printed command of this program: what the command line says of the cluster and of
 * the rules. The command reads the environment itself.
 */
export function ownFlags(args: Arguments): string {
  const rules = Object.entries<Flag<unknown>>(LOOK_FLAGS).map(([name, flag]) =>
    printed(name, argumentOf(flag, args[name]), flag.kind === SWITCH ? '=' : ' '),
  );
  return [printed('config', configFileIn(args)), ...rules].join('');
}

/** To append to a printed command of kubectl, which does not read our environment or file. */
export function kubectlFlags({ kubeconfig, context }: FlagValues<typeof CLUSTER_FLAGS>): string {
  return printed('kubeconfig', kubeconfig) + printed('context', context);
}

function printed(name: string, value: string | undefined, separator = ' '): string {
  return value === undefined ? '' : ` --${name}${separator}${shellQuoted(value)}`;
}
