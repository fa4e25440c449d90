import { historyRows, historyTable } from '../../inspect/history.ts';
import { asData } from '../../inspect/report.ts';
import type { HISTORY_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { type ProcessIo, print, terminalWidth } from '../io.ts';
import { clusterFor } from '../session/from-flags.ts';
import { inspecting } from '../session/inspection-session.ts';
import { sourceAt, sourceKey, sourceName } from '../session/named-source.ts';

/** `mirror-controller history`: the contents of a source that are kept (SPEC D5). */
export async function history(
  flags: FlagValues<typeof HISTORY_FLAGS>,
  io: ProcessIo,
  operands: readonly string[],
): Promise<void> {
  const name = sourceName('history', operands);
  const cluster = clusterFor(flags, io);
  const key = sourceKey(name, flags.namespace, cluster);
  const rows = await inspecting(cluster, flags, io, async (inspection, signal) => {
    const look = await inspection.look(signal, { confirm: () => false });
    return historyRows(sourceAt(key, look), look);
  });
  await print(io, asData(rows, flags.output) ?? historyTable(rows, terminalWidth(io.stdout)));
}
