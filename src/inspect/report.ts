import { dump } from 'js-yaml';
import { splitKey } from '../kube/api/object-key.ts';
import { COMPANION_STATES, type CompanionState, type Entry } from '../mirror/explain/inventory.ts';
import type { Step } from '../mirror/plan/step.ts';
import { rfc3339 } from '../mirror/rfc3339.ts';
import { type Change, changeInWords } from './changes.ts';
import type { TableRow } from './table.ts';

/** One companion in the output of `plan` and `status`. The shape is public: docs/output.md. */
export interface Row {
  /** `namespace/name`; null: the companion names no source. */
  readonly source: string | null;
  /** `namespace/name`; null: an invalid source that has no companion. */
  readonly companion: string | null;
  readonly action: Step['action'];
  readonly state: CompanionState;
  readonly reason: string;
  /** Only of `plan`, and only of an update or a replacement. */
  readonly differences?: readonly Change[];
  /** Only of one that waits for a time that is known, RFC 3339. */
  readonly until?: string;
}

export function rowOf(entry: Entry, differences?: readonly Change[]): Row {
  const { source, companion, action, state, reason, until } = entry;
  return {
    source: source ?? null,
    companion: companion ?? null,
    action,
    state,
    reason,
    ...(differences && { differences }),
    ...(until !== undefined && { until: rfc3339(until) }),
  };
}

/** By source, then by companion. */
export function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const name = ({ source, companion }: Entry) => `${source ?? ''} ${companion ?? ''}`;
  return entries.toSorted((a, b) => (name(a) < name(b) ? -1 : Number(name(a) > name(b))));
}

/** Whether it is about a source or a companion in the namespace. */
export function inNamespace({ source, companion }: Entry, namespace: string): boolean {
  return [source, companion].some((key) => key !== undefined && splitKey(key).namespace === namespace);
}

/** What `--output` asks for; undefined: a table. */
export function asData(rows: readonly object[], output: string): string | undefined {
  if (output === 'json') return `${JSON.stringify(rows, null, 2)}\n`;
  return output === 'yaml' ? dump(rows, { lineWidth: -1 }) : undefined;
}

/** `middle`: which word stands between the names and the reason. */
export function asTableRows(rows: readonly Row[], middle: 'action' | 'state'): readonly TableRow[] {
  return rows.map(({ source, companion, reason, until, differences = [], ...row }) => ({
    cells: [source ?? NONE, companion ?? NONE, row[middle], until ? `${reason}, until ${until}` : reason],
    below: differences.map(changeInWords),
  }));
}

const NONE = '<none>';

/** `3 companions: 2 in sync, 1 conflict` */
export function stateSummary(rows: readonly Row[]): string {
  const states = rows.map(({ state }) => state);
  return `${rows.length} ${rows.length === 1 ? 'companion' : 'companions'}: ${counted(states, COMPANION_STATES)}`;
}

/** A creation that is deferred is none, once it is confirmed. */
const ACTIONS: Readonly<Partial<Record<Row['action'], string>>> = {
  create: 'to create',
  update: 'to update',
  replace: 'to replace',
  delete: 'to delete',
  none: 'left alone',
};

/** `2 to create, 1 to delete, 1 left alone` */
export function actionSummary(rows: readonly Row[]): string {
  const actions = rows.flatMap(({ action }) => ACTIONS[action] ?? []);
  const isNothing = rows.every(({ action }) => action === 'none');
  const text = counted(actions, Object.values(ACTIONS));
  return [isNothing ? 'nothing to do' : '', text].filter((part) => part !== '').join('; ');
}

function counted(words: readonly string[], order: readonly string[]): string {
  return order
    .map((word) => ({ word, count: words.filter((each) => each === word).length }))
    .flatMap(({ word, count }) => (count > 0 ? `${count} ${word}` : []))
    .join(', ');
}
