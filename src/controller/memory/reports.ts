import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { Remark } from '../../mirror/explain/remarks.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { ClusterView } from '../../mirror/plan/view.ts';
import type { RevisionStep } from '../../mirror/rollout/revision-step.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { CompanionMemory, Problem } from './companion-memory.ts';
import { BlockedError, describeError, isOutage } from './failure.ts';
import type { Listener, ProblemChanged, ProblemKind } from './happening.ts';

export interface ReportsDeps {
  readonly log: Logger;
  readonly memory: CompanionMemory;
  readonly view: Pick<ClusterView, 'configMap' | 'namespace'>;
  readonly emit: Listener;
}

/**
 * Logs each problem once, however often it occurs, and once more when it is resolved. Also reports
 * it to the listeners.
 */
export class Reports {
  readonly #deps: ReportsDeps;
  /** Whether an outage was reported and the server has not answered since. */
  #isOutage = false;

  constructor(deps: ReportsDeps) {
    this.#deps = deps;
  }

  /** Nothing is written for an invalid source (SPEC R13). */
  invalidSource(source: ObjectKey, reason: string): void {
    // The others, such as held deletions, are as they were.
    const others = this.#deps.memory.problems(source, source).filter(({ kind }) => kind !== 'invalid');
    this.#report(source, source, [problemOf('invalid', { source, reason }), ...others]);
  }

  /** `remarks`: what the source's author probably did not mean. */
  validSource(source: ObjectKey, remarks: readonly Remark[]): void {
    const kinds = [...new Set(remarks.map(({ kind }) => kind))];
    const problems = kinds.map((kind): Problem => {
      const ofKind = remarks.filter((remark) => remark.kind === kind);
      const fields = { source, reason: ofKind.map(({ text }) => text).join('; ') };
      const topic = ofKind.map((remark) => remark.topic ?? remark.text).join('; ');
      return { ...problemOf(kind, fields), topic };
    });
    this.#report(source, source, problems);
  }

  /** `reason`: what is wrong with the Namespace's consent annotation; undefined: nothing. */
  consent(namespace: ObjectKey, reason: string | undefined): void {
    if (reason === undefined) this.resolved(namespace, namespace);
    else this.#warn('consent', namespace, namespace, { namespace, reason });
  }

  leftAlone(source: ObjectKey, step: Extract<Step, { readonly action: 'none' }>): void {
    const { companion, reason } = step;
    const fields = { source, companion, reason };
    switch (step.state) {
      case 'conflict':
        this.#warn('conflict', source, companion, fields);
        break;
      case 'refused':
        // A pattern such as `*` normally matches namespaces that refuse, too.
        if (step.named) this.#warn('refused', source, companion, fields);
        else this.#unremarkable(MESSAGES.refused, source, companion, fields);
        break;
      case 'no namespace':
        this.#warn('target missing', source, companion, fields);
        break;
      case 'retained':
        this.#inform('companion retained', source, companion, fields);
        break;
      case 'unresolved':
        // Reported on the source, once for all namespaces.
        this.#unremarkable('companion cannot be rendered', source, companion, fields);
        break;
      case 'waiting':
      case 'delayed':
      case 'held':
        this.#unremarkable('companion waits', source, companion, fields);
        break;
      case 'in sync':
        // A write that seemed to fail has been made.
        if (this.#deps.memory.failures(source, companion) > 0) this.serverAnswers();
        if (!this.#deps.memory.isFoughtOver(source, companion)) this.resolved(source, companion);
    }
  }

  /** A write has failed. Until a revision exists, no companion gets the content (SPEC D4). */
  failed(source: ObjectKey, step: Step | RevisionStep, error: unknown): void {
    const { companion } = step;
    const fields = { source, [wordFor(step)]: companion, reason: describeError(error) };
    if (isOutage(error)) this.serverFails(error);
    else if (!('state' in step)) this.#warn('revision not kept', source, companion, fields);
    else if (error instanceof BlockedError) this.#warn('conflict', source, companion, fields);
    else this.#warn('write failed', source, companion, fields);
  }

  /** Reports an outage once, although its error may differ from attempt to attempt. */
  serverFails(error: unknown): void {
    if (!this.#isOutage) this.#deps.log.warn({ error: describeError(error) }, MESSAGES.outage);
    this.#isOutage = true;
  }

  serverAnswers(): void {
    if (this.#isOutage) this.#deps.log.info({ was: MESSAGES.outage }, 'resolved');
    this.#isOutage = false;
  }

  written(source: ObjectKey, companion: ObjectKey): void {
    this.serverAnswers();
    this.resolved(source, companion);
  }

  /** It has no problem any more, or no source asks for it. */
  resolved(source: ObjectKey, subject: ObjectKey): void {
    this.#report(source, subject, []);
  }

  /** Another client keeps undoing our heals (SPEC R14). */
  fight(source: ObjectKey, companion: ObjectKey, editedBy: string | undefined): void {
    const fields = { source, companion, fieldManager: editedBy ?? 'unknown' };
    this.serverAnswers();
    this.#report(source, companion, [{ ...problemOf('fighting', fields), editedBy }]);
  }

  wouldWrite(source: ObjectKey, step: Exclude<Step, { readonly action: 'none' }> | RevisionStep): void {
    const { companion, action, reason } = step;
    const fields = { source, [wordFor(step)]: companion, reason };
    if (action === 'defer') this.#warn('conflict', source, companion, fields);
    else this.#inform(WOULD_WRITE[action], source, companion, fields);
  }

  #warn(kind: Kind, source: ObjectKey, subject: ObjectKey, fields: Problem['fields']): void {
    this.#report(source, subject, [problemOf(kind, fields)]);
  }

  /** Logged once, too, but listeners need not know. */
  #inform(message: string, source: ObjectKey, subject: ObjectKey, fields: Problem['fields']): void {
    this.#report(source, subject, [{ kind: undefined, message, fields }]);
  }

  /** Normal, and not remembered: there may be one for each namespace and source. */
  #unremarkable(message: string, source: ObjectKey, subject: ObjectKey, fields: Problem['fields']): void {
    this.resolved(source, subject);
    this.#deps.log.debug(fields, message);
  }

  /**
   * The present problems of the subject. A source may have several, of different kinds. A companion
   * has one at most, which takes the place of the one before.
   */
  #report(source: ObjectKey, subject: ObjectKey, problems: readonly Problem[]): void {
    const { memory, log } = this.#deps;
    const before = memory.problems(source, subject);
    const isReplaced = subject !== source && problems.length > 0;
    const resolved = before.filter((last) => !isReplaced && !problems.some(({ kind }) => kind === last.kind));
    const begun = problems.filter((problem) => !before.some((last) => isSame(last, problem)));
    if (resolved.length + begun.length === 0) return;
    memory.setProblems(source, subject, problems);
    for (const problem of resolved) {
      // Nothing was wrong.
      if (problem.kind === undefined) continue;
      const { reason: _, ...fields } = problem.fields;
      log.info({ ...fields, was: problem.message }, 'resolved');
      this.#emit(source, subject, problem, 'resolved');
    }
    for (const problem of begun) {
      const isExpected = problem.kind === undefined || problem.kind === 'canary waiting';
      log[isExpected ? 'info' : 'warn'](problem.fields, problem.message);
      this.#emit(source, subject, problem, 'began');
    }
  }

  #emit(
    source: ObjectKey,
    subject: ObjectKey,
    { kind, fields, topic, editedBy }: Problem,
    state: ProblemChanged['state'],
  ): void {
    const { view, emit } = this.#deps;
    const { reason = '' } = fields;
    if (kind === 'consent') {
      const object = view.namespace(source);
      emit({ type: 'consent', state, namespace: source, object, reason });
    } else if (kind !== undefined) {
      const object = view.configMap(source);
      const namespaceUid = view.namespace(splitKey(source).namespace)?.uid;
      const about = { source, object, namespaceUid, subject };
      emit({ type: 'problem', state, kind, ...about, reason, topic, editedBy });
    }
  }
}

type Kind = ProblemKind | 'consent';

const ATTENTION = 'source needs attention';

/** What the log says of problems. `docs/operating.md` explains each. */
export const MESSAGES = {
  invalid: 'source is invalid; its companions stay as they are',
  unresolved: ATTENTION,
  annotation: ATTENTION,
  'no consent': ATTENTION,
  flapping: ATTENTION,
  'deletes held': 'deletions are held',
  'canary waiting': 'new content waits',
  'canary failed': ATTENTION,
  'missing revision': ATTENTION,
  'revision not kept': 'revision cannot be written; companions stay as they are',
  conflict: 'companion in conflict',
  refused: 'companion refused',
  'target missing': 'companion has no namespace',
  'write failed': 'companion cannot be written',
  fighting: 'another client keeps changing this companion; backing off',
  consent: 'accept-mirrors-from is malformed; nothing new is accepted and companions there stay as they are',
  outage: 'the API server is failing; retrying',
} as const satisfies Record<Kind | 'outage', string>;

function problemOf(kind: Kind, fields: Problem['fields']): Problem {
  return { kind, message: MESSAGES[kind], fields };
}

function isSame(one: Problem, other: Problem): boolean {
  return one.kind === other.kind && one.message === other.message && topicOf(one) === topicOf(other);
}

function topicOf({ topic, fields }: Problem): string | undefined {
  return topic ?? fields.reason;
}

/** What the companion of the step is. */
function wordFor(step: Step | RevisionStep): 'companion' | 'revision' {
  return 'state' in step ? 'companion' : 'revision';
}

const WOULD_WRITE = {
  create: 'companion would be created',
  update: 'companion would be updated',
  replace: 'companion would be replaced',
  delete: 'companion would be deleted',
  keep: 'revision would be kept',
  mark: 'revision would be marked',
  drop: 'revision would be deleted',
} as const;
