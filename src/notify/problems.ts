import type { ProblemChanged, ProblemKind } from '../controller/memory/happening.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ConditionType } from './event-types.ts';
import type { Observation } from './state/news.ts';

/** Problems of which a notification has a type of its own. */
const CONDITIONS: Readonly<Partial<Record<ProblemKind, ConditionType>>> = {
  'deletes held': 'deletes.held',
  'canary waiting': 'canary.waiting',
  'canary failed': 'canary.failed',
};

/** Problems of companions, not of what the source says. */
const FAILURES: readonly ProblemKind[] = [
  'unresolved',
  'conflict',
  'refused',
  'target missing',
  'write failed',
  'fighting',
];

/** Longest reason (characters) that is remembered: an admission webhook may write a novel. */
const MAX_REASON = 300;

/**
 * The present problems of all sources. It hears of them for as long as the process runs, because
 * the controller says once that a problem began, and not again when the Lease is lost and regained.
 */
export class Problems {
  /** By source and by subject; those of the source itself by their kind. */
  readonly #bySource = new Map<ObjectKey, Map<string, ProblemChanged>>();

  hear(problem: ProblemChanged): void {
    const { source, subject, kind, state } = problem;
    const problems = this.#bySource.get(source) ?? new Map();
    const id = subject === source ? kind : subject;
    if (state === 'began') this.#bySource.set(source, problems.set(id, problem));
    else if (problems.delete(id) && problems.size === 0) this.#bySource.delete(source);
  }

  of(source: ObjectKey): Pick<Observation, 'failure' | 'conditions'> {
    const problems = [...(this.#bySource.get(source)?.values() ?? [])];
    const failure = problems.find(({ kind }) => FAILURES.includes(kind));
    const conditions = problems.flatMap(({ kind, reason, topic = reason }) => {
      const type = CONDITIONS[kind];
      return type === undefined ? [] : [[type, { topic: cut(topic), reason: cut(reason) }] as const];
    });
    return {
      failure: failure && cut(`${failure.subject}: ${failure.reason}`),
      conditions: Object.fromEntries(conditions),
    };
  }
}

function cut(text: string): string {
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON - 1)}…` : text;
}
