import { createInterface } from 'node:readline';
import type { Look } from '../../inspect/inspection.ts';
import { asTableRows, inOrder, rowOf } from '../../inspect/report.ts';
import { renderTable } from '../../inspect/table.ts';
import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import { ApiError, isConflict, isNotFound } from '../../kube/errors.ts';
import type { Entry } from '../../mirror/explain/inventory.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import { messageOf, UsageError } from '../errors.ts';
import type { RELEASE_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { type ProcessIo, print, terminalWidth } from '../io.ts';
import { clusterFor } from '../session/from-flags.ts';
import { inspecting } from '../session/inspection-session.ts';
import { inScope, type Scope, scopeOf, sourceAt } from '../session/scope.ts';

/** A companion whose deletion is held, as it was seen. */
interface Held {
  readonly entry: Entry;
  readonly actual: ObservedConfigMap;
}

/**
 * `mirror-controller release`: deletes what the brake holds, with the caller's own rights (SPEC
 * D2). Resolves to 1 if some of it could not be deleted.
 */
export async function release(
  flags: FlagValues<typeof RELEASE_FLAGS>,
  io: ProcessIo,
  operands: readonly string[],
): Promise<number> {
  const cluster = clusterFor(flags, io);
  const scope = scopeOf('release', operands, flags, cluster);
  return inspecting(cluster, flags, io, async (inspection, signal, { api }) => {
    const look = () => inspection.look(signal);
    const shown = heldIn(scope, known(scope.keys, await look()));
    await print(io, inWords(shown, scope, io));
    if (shown.length === 0) return 0;
    if (!flags.yes && !(await isConfirmed(shown.length, io))) return 0;
    // The answer may have taken a while. Companions that are wanted again by now are kept.
    const uids = new Set(shown.map(({ actual }) => actual.uid));
    const held = heldIn(scope, await look()).filter(({ actual }) => uids.has(actual.uid));
    const problems: string[] = [];
    for (const { actual } of held) {
      const problem = signal.aborted ? 'interrupted' : await deletion(actual, api);
      if (problem !== undefined) problems.push(problem);
      await print(io, lineOf(actual, problem));
    }
    return problems.length === 0 ? 0 : 1;
  });
}

function lineOf({ key }: ObservedConfigMap, problem: string | undefined): string {
  return problem === undefined ? `${key} deleted\n` : `${key} not deleted: ${problem}\n`;
}

/** @throws RunError if one of them is neither a source nor has left companions */
function known(sources: readonly ObjectKey[], look: Look): Look {
  for (const key of sources) if (!look.entries.some(({ source }) => source === key)) sourceAt(key, look);
  return look;
}

function heldIn(scope: Scope, { entries, view }: Look): readonly Held[] {
  return inOrder(entries).flatMap((entry) => {
    const actual = entry.companion && view.configMap(entry.companion);
    return entry.state === 'held' && isIn(scope, entry) && actual ? [{ entry, actual }] : [];
  });
}

function isIn({ keys, namespace }: Scope, { source }: Entry): boolean {
  if (source === undefined) return false;
  if (keys.length > 0) return keys.includes(source);
  return namespace === undefined || splitKey(source).namespace === namespace;
}

function inWords(held: readonly Held[], scope: Scope, { stdout }: ProcessIo): string {
  if (held.length === 0) return `nothing is held${inScope(scope)}\n`;
  const rows = asTableRows(
    held.map(({ entry }) => rowOf(entry)),
    'state',
  );
  const headers = ['NAME', 'COMPANION', 'STATE', 'REASON'];
  return `${renderTable(rows, { headers, width: terminalWidth(stdout) })}\n`;
}

/** @throws UsageError without a terminal to ask on */
async function isConfirmed(count: number, io: ProcessIo): Promise<boolean> {
  if (io.stdin.isTTY !== true || io.stdout.isTTY !== true) {
    throw new UsageError('release: there is no terminal to ask on; give --yes to delete what is held');
  }
  const what = count === 1 ? 'this companion' : `these ${count} companions`;
  await print(io, `Delete ${what}? [y/N] `);
  const lines = createInterface({ input: io.stdin, signal: io.signal });
  try {
    const { value } = await lines[Symbol.asyncIterator]().next();
    return /^y(es)?$/i.test(String(value ?? '').trim());
  } finally {
    lines.close();
  }
}

/** Deletes the object just as it was seen (SPEC R8). Resolves to why that was not possible. */
async function deletion(
  { key, uid, resourceVersion }: ObservedConfigMap,
  api: Pick<ConfigMapApi, 'delete'>,
): Promise<string | undefined> {
  try {
    await api.delete(key, { uid, resourceVersion });
    return undefined;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    if (isConflict(error)) return 'it has changed meanwhile; run release again';
    if (error instanceof ApiError && error.status === 403) return `not allowed: ${error.message}`;
    return messageOf(error);
  }
}
