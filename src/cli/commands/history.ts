import { historyRows, historyTable } from '../../inspect/history.ts';
import { asData } from '../../inspect/report.ts';
import type { HISTORY_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { type ProcessIo, print, terminalWidth } from '../io.ts';
import { inspectingSource } from '../session/scope.ts';

/** `mirror-controller history`: the contents of a source that are kept (SPEC D5). */
export async function history(
  flags: FlagValues<typeof HISTORY_FLAGS>,
  io: ProcessIo,
  operands: readonly string[],
): Promise<void> {
  const rows = await inspectingSource('history', operands, flags, io, historyRows);
  await print(io, asData(rows, flags.output) ?? historyTable(rows, terminalWidth(io.stdout)));
}
