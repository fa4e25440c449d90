import { sleep, systemClock } from '../../clock/clock.ts';
import type { Inspection, Look } from '../../inspect/inspection.ts';
import { asData, asTableRows, inNamespace, inOrder, rowOf, stateSummary } from '../../inspect/report.ts';
import { paragraph, renderTable } from '../../inspect/table.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Entry } from '../../mirror/explain/inventory.ts';
import { isAsAsked } from '../../mirror/plan/step.ts';
import { ownCommand, RunError, UsageError } from '../errors.ts';
import type { STATUS_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { type ProcessIo, print, terminalWidth } from '../io.ts';
import { clusterFor } from '../session/from-flags.ts';
import { inspecting } from '../session/inspection-session.ts';
import { type Notified, readNotified } from '../session/notified.ts';
import { inScope, matchesNone, requireNamespace, type Scope, scopeOf } from '../session/scope.ts';

type StatusFlags = FlagValues<typeof STATUS_FLAGS>;

/** How often (ms) `--watch` shows what has changed. */
const REDRAW_MS = 200;
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

/** `mirror-controller status`: one line for each companion (SPEC C3). */
export async function status(
  flags: StatusFlags,
  io: ProcessIo,
  operands: readonly string[],
): Promise<number> {
  if (flags.watch && !['table', 'wide', 'name'].includes(flags.output)) {
    throw new UsageError(`--watch: it cannot be shown as ${flags.output}; use table, wide or name`);
  }
  if (flags.watch && flags.check) {
    throw new UsageError('--check: it cannot be combined with --watch, which shows until it is stopped');
  }
  const cluster = clusterFor(flags, io);
  const scope = scopeOf('status', operands, flags, cluster);
  return inspecting(cluster, flags, io, async (inspection, signal, { transport }) => {
    const look = async (): Promise<Shown> => ({
      ...(await inspection.look(signal, { confirm: (entry) => isAskedFor(entry, scope) })),
      scope,
      notified:
        flags.output === 'wide'
          ? await readNotified(transport, flags['leader-elect-lease-namespace'], io, signal)
          : undefined,
    });
    if (flags.watch) {
      await watch(inspection, look, flags, { ...io, signal });
      return 0;
    }
    const shown = await look();
    const entries = selected(shown, flags);
    await reportMissing(shown, io);
    await print(io, format(entries, shown, flags, io));
    return flags.check && !entries.every(isAsAsked) ? 1 : 0;
  });
}

/** What there is to show. */
interface Shown extends Look {
  readonly scope: Scope;
  readonly notified: Notified | undefined;
}

function isAskedFor(entry: Entry, { keys, namespace }: Scope): boolean {
  return keys.length > 0
    ? keys.some((key) => key === entry.source || key === entry.companion)
    : namespace === undefined || inNamespace(entry, namespace);
}

function selected({ entries, scope }: Shown, { state }: StatusFlags): readonly Entry[] {
  return inOrder(entries).filter((entry) => isAskedFor(entry, scope) && (state?.has(entry.state) ?? true));
}

/** @throws RunError if a name is neither a source nor a companion, or the namespace is not there */
async function reportMissing(look: Shown, io: ProcessIo): Promise<void> {
  const { entries, view, scope } = look;
  await requireNamespace(scope, look);
  const isUnknown = (key: ObjectKey) =>
    !entries.some((entry) => entry.source === key || entry.companion === key);
  const unknown = scope.keys.filter(isUnknown);
  for (const key of unknown) {
    if (view.configMap(key)?.request?.ok) {
      io.stderr.write(`${matchesNone(key, look)}, so there is nothing to show\n`);
    }
  }
  const strangers = unknown.filter((key) => view.configMap(key)?.request === undefined);
  if (strangers.length > 0) {
    const [first = ''] = strangers;
    const what = `${strangers.join(', ')}: neither a source nor a companion`;
    throw new RunError(`${what}\nTo see why, run: ${ownCommand('explain', first)}`);
  }
}

function format(entries: readonly Entry[], look: Shown, flags: StatusFlags, io: ProcessIo): string {
  const { output } = flags;
  const rows = entries.map((entry) => rowOf(entry));
  const data = asData(rows, output);
  if (data !== undefined) return data;
  if (output === 'name') {
    return rows.flatMap(({ companion }) => (companion === null ? [] : `${companion}\n`)).join('');
  }
  const isWide = output === 'wide';
  const width = terminalWidth(io.stdout);
  const tableRows = asTableRows(rows, 'state').map((row, at) => {
    if (!isWide) return row;
    const [name = '', companion = '', state = '', reason = ''] = row.cells;
    const more = [age(entries[at], look), ...notifiedCell(entries[at], look)];
    return { cells: [name, companion, state, rows[at]?.action ?? '', ...more, reason] };
  });
  if (!flags.headers) return renderTable(tableRows, { width });
  if (rows.length === 0) return `no companions${inScope(look.scope)}\n`;
  const notifiedHeader = look.notified === undefined ? [] : ['NOTIFIED'];
  const wide = isWide ? ['ACTION', 'AGE', ...notifiedHeader] : [];
  const headers = ['NAME', 'COMPANION', 'STATE', ...wide, 'REASON'];
  return `${renderTable(tableRows, { headers, width })}\n${paragraph(stateSummary(rows), width)}`;
}

/** Of the source. */
function age(entry: Entry | undefined, { view }: Look): string {
  const createdAt = entry?.source && view.configMap(entry.source)?.createdAt;
  return createdAt ? since(createdAt) : '<unknown>';
}

/** `ops 1a2b3c4d 5m`: which version a sink was last sent, and how long ago. */
function notifiedCell(entry: Entry | undefined, { view, notified }: Shown): readonly string[] {
  if (notified === undefined) return [];
  const uid = entry?.source && view.configMap(entry.source)?.uid;
  const sinks = Object.entries((uid && notified.get(uid)) || {});
  const texts = sinks.flatMap(([name, { version, at }]) =>
    version === undefined || at === undefined ? [] : [`${name} ${version} ${since(at)}`],
  );
  return [texts.sort().join(', ') || '<none>'];
}

/** The age of a time in its largest unit, from two of that unit on. */
function since(time: string): string {
  const seconds = Math.max(0, Math.floor((systemClock.wallTime().getTime() - Date.parse(time)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 120 * 60) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/**
 * Redraws on a terminal. In a pipe it prints each line that has changed, and `gone` lines.
 * @throws RunError as without `--watch`, if a name is unknown when it begins
 */
async function watch(
  inspection: Inspection,
  look: () => Promise<Shown>,
  flags: StatusFlags,
  io: ProcessIo,
): Promise<void> {
  let before = new Map<string, Entry>();
  let version: number | undefined;
  while (!io.signal.aborted) {
    if (version !== inspection.changes) {
      const isFirst = version === undefined;
      version = inspection.changes;
      const shown = await look();
      if (isFirst) await reportMissing(shown, io);
      const entries = selected(shown, flags);
      const now = byNames(entries);
      const text = io.stdout.isTTY
        ? CLEAR_SCREEN + fitted(format(entries, shown, flags, io), io.stdout.rows)
        : changedLines(before, now, shown, flags, io);
      await print(io, text);
      before = now;
    }
    await sleep(systemClock, REDRAW_MS, io.signal);
  }
}

/**
 * The beginning and the last line of a text, which has the counts, if it is longer than the
 * terminal.
 */
function fitted(text: string, rows: number | undefined): string {
  const lines = text.trimEnd().split('\n');
  // The cursor takes a row, too. Some terminals report 0.
  const most = Math.max(3, (rows || Number.POSITIVE_INFINITY) - 1);
  if (lines.length <= most) return text;
  const hidden = `… ${lines.length - most + 1} more lines`;
  return [...lines.slice(0, most - 2), hidden, ...lines.slice(-1), ''].join('\n');
}

function byNames(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [`${entry.source} ${entry.companion}`, entry]));
}

function changedLines(
  before: ReadonlyMap<string, Entry>,
  after: ReadonlyMap<string, Entry>,
  look: Shown,
  flags: StatusFlags,
  io: ProcessIo,
): string {
  const changed = [...after].flatMap(([name, entry]) => {
    const old = before.get(name);
    return old?.state === entry.state && old.reason === entry.reason ? [] : [entry];
  });
  const lines = format(changed, look, { ...flags, headers: false }, io);
  // A name alone cannot say that it is gone.
  if (flags.output === 'name') return lines;
  const there = byNames(look.entries);
  const left = [...before].filter(([name]) => !after.has(name));
  const others = left.flatMap(([name]) => there.get(name) ?? []);
  const gone = left.flatMap(([name, entry]) => (there.has(name) ? [] : [rowOf(entry)]));
  const rows = asTableRows(gone, 'state').map(({ cells }) => ({ cells: [...cells.slice(0, 2), 'gone'] }));
  return (
    lines +
    format(others, look, { ...flags, headers: false }, io) +
    renderTable(rows, { width: terminalWidth(io.stdout) })
  );
}
