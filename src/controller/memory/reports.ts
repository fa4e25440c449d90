import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { Step } from '../../mirror/plan/step.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { CompanionMemory, Problem } from './companion-memory.ts';
import { BlockedError, describeError, isOutage } from './failure.ts';

/**
 * Logs each problem once, however often it occurs, and once more when it is resolved. Events and
 * metrics would be added here.
 */
export class Reports {
  readonly #log: Logger;
  readonly #memory: CompanionMemory;
  /** Whether an outage was reported and the server has not answered since. */
  #isOutage = false;

  constructor(log: Logger, memory: CompanionMemory) {
    this.#log = log;
    this.#memory = memory;
  }

  /** Nothing is written for an invalid source (SPEC R13). */
  invalidSource(source: ObjectKey, reason: string): void {
    const message = 'source is invalid; its companions stay as they are';
    this.#problem(source, source, { level: 'warn', message, fields: { source, reason } });
  }

  /** `remarks`: what the source's author probably did not mean. */
  validSource(source: ObjectKey, remarks: readonly string[]): void {
    const fields = { source, reason: remarks.join('; ') };
    if (remarks.length === 0) this.#resolved(source, source);
    else this.#problem(source, source, { level: 'warn', message: 'source needs attention', fields });
  }

  /** `reason`: what is wrong with the Namespace's consent annotation; undefined: nothing. */
  consent(namespace: ObjectKey, reason: string | undefined): void {
    const message =
      'accept-mirrors-from is malformed; nothing new is accepted and companions there stay as they are';
    if (reason === undefined) this.#resolved(namespace, namespace);
    else this.#problem(namespace, namespace, { level: 'warn', message, fields: { namespace, reason } });
  }

  leftAlone(source: ObjectKey, step: Extract<Step, { readonly action: 'none' }>): void {
    const { companion, reason } = step;
    const fields = { source, companion, reason };
    switch (step.state) {
      case 'conflict':
        this.#problem(source, companion, { level: 'warn', message: CONFLICT, fields });
        break;
      case 'refused':
        // A pattern such as `*` normally matches namespaces that refuse, too.
        if (step.named)
          this.#problem(source, companion, { level: 'warn', message: 'companion refused', fields });
        else this.#unremarkable(source, companion, 'companion refused', fields);
        break;
      case 'no namespace':
        this.#problem(source, companion, { level: 'warn', message: 'companion has no namespace', fields });
        break;
      case 'retained':
        this.#problem(source, companion, { level: 'info', message: 'companion retained', fields });
        break;
      case 'waiting':
        this.#unremarkable(source, companion, 'companion waits', fields);
        break;
      case 'in sync':
        // A write that seemed to fail has been made.
        if (this.#memory.failures(source, companion) > 0) this.serverAnswers();
        if (!this.#memory.isFoughtOver(source, companion)) this.#resolved(source, companion);
    }
  }

  failed(source: ObjectKey, companion: ObjectKey, error: unknown): void {
    if (isOutage(error)) {
      this.serverFails(error);
      return;
    }
    const message = error instanceof BlockedError ? CONFLICT : 'companion cannot be written';
    const fields = { source, companion, reason: describeError(error) };
    this.#problem(source, companion, { level: 'warn', message, fields });
  }

  /** Reports an outage once, although its error may differ from attempt to attempt. */
  serverFails(error: unknown): void {
    if (!this.#isOutage) this.#log.warn({ error: describeError(error) }, SERVER_FAILS);
    this.#isOutage = true;
  }

  serverAnswers(): void {
    if (this.#isOutage) this.#log.info({ was: SERVER_FAILS }, 'resolved');
    this.#isOutage = false;
  }

  written(source: ObjectKey, companion: ObjectKey): void {
    this.serverAnswers();
    this.#resolved(source, companion);
  }

  /** Somebody keeps undoing our heals (SPEC R14). */
  fight(source: ObjectKey, companion: ObjectKey, editedBy: string | undefined): void {
    const message = 'companion keeps being changed by another client; backing off';
    const fields = { source, companion, fieldManager: editedBy ?? 'unknown' };
    this.serverAnswers();
    this.#problem(source, companion, { level: 'warn', message, fields });
  }

  /** The fight is over, or nobody asks for the companion any more. */
  over(source: ObjectKey, companion: ObjectKey): void {
    this.#resolved(source, companion);
  }

  wouldWrite(source: ObjectKey, { companion, action, reason }: Step): void {
    const fields = { source, companion, reason };
    const would: Problem = { level: 'info', message: WOULD_WRITE[action], fields };
    this.#problem(
      source,
      companion,
      action === 'defer' ? { level: 'warn', message: CONFLICT, fields } : would,
    );
  }

  #problem(source: ObjectKey, subject: ObjectKey, problem: Problem): void {
    const last = this.#memory.problem(source, subject);
    if (last?.message === problem.message && last.fields['reason'] === problem.fields['reason']) return;
    this.#memory.setProblem(source, subject, problem);
    this.#log[problem.level](problem.fields, problem.message);
  }

  /** Normal, and not remembered: there may be one for each namespace and source. */
  #unremarkable(source: ObjectKey, subject: ObjectKey, message: string, fields: Problem['fields']): void {
    this.#resolved(source, subject);
    this.#log.debug(fields, message);
  }

  #resolved(source: ObjectKey, subject: ObjectKey): void {
    const last = this.#memory.problem(source, subject);
    if (last === undefined) return;
    this.#memory.setProblem(source, subject, undefined);
    const { reason: _, ...fields } = last.fields;
    this.#log.info({ ...fields, was: last.message }, 'resolved');
  }
}

const CONFLICT = 'companion in conflict';
const SERVER_FAILS = 'the API server fails; retrying';
const WOULD_WRITE = {
  create: 'companion would be created',
  update: 'companion would be updated',
  replace: 'companion would be replaced',
  delete: 'companion would be deleted',
  defer: CONFLICT,
  none: 'companion would be left alone',
} as const satisfies Record<Step['action'], string>;
