import { dump } from 'js-yaml';
import { historyRows, historyTable } from '../../inspect/history.ts';
import type { Look } from '../../inspect/inspection.ts';
import { type ObjectKey, objectKey, parseKey } from '../../kube/api/object-key.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import { RunError, UsageError } from '../errors.ts';
import type { HISTORY_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { type ProcessIo, print, terminalWidth } from '../io.ts';
import { clusterFor } from '../session/from-flags.ts';
import { inspecting } from '../session/inspection-session.ts';

/** `mirror-controller history`: the contents of a source that are kept (SPEC D5). */
export async function history(
  flags: FlagValues<typeof HISTORY_FLAGS>,
  io: ProcessIo,
  operands: readonly string[],
): Promise<void> {
  const name = named('history', operands);
  const cluster = clusterFor(flags, io);
  const key = parseKey(name) ?? objectKey(flags.namespace ?? cluster.namespace ?? 'default', name);
  const rows = await inspecting(cluster, flags, io, async (inspection, signal) => {
    const look = await inspection.look(signal, { confirm: () => false });
    return historyRows(sourceAt(key, look), look);
  });
  if (flags.output === 'json') await print(io, `${JSON.stringify(rows, null, 2)}\n`);
  else if (flags.output === 'yaml') await print(io, dump(rows, { lineWidth: -1 }));
  else await print(io, historyTable(rows, terminalWidth(io.stdout)));
}

/** @throws UsageError */
export function named(command: string, [name]: readonly string[]): string {
  if (name === undefined) throw new UsageError(`${command}: name a source, as NAMESPACE/NAME`);
  return name;
}

/** @throws RunError if there is none. */
export function sourceAt(key: ObjectKey, { view }: Look): ObservedConfigMap {
  const source = view.configMap(key);
  if (source?.request !== undefined) return source;
  throw new RunError(`${key} is not a source\nSay why with: $0 explain ${key}`);
}
