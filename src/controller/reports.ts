import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Step } from '../mirror/plan/step.ts';
import type { LogFields, Logger } from '../telemetry/logger.ts';
import { BlockedError, describeError, isOutage } from './failure.ts';
import type { WriteStep } from './step-runner.ts';

type Level = 'warn' | 'info' | 'debug';

interface Problem {
  readonly level: Level;
  readonly message: string;
  /** When it differs, it is another problem, and is said again. */
  readonly identity: string;
  readonly fields: LogFields;
}

// Subjects of no one source.
const API_SERVER = 'API server';
const FIGHT = 'fight';

/**
 * Tells a person what is wrong: each problem once, however often it is met, and once more when it is over. Here a
 * person learns why there is no companion, so this is also the place for Events and metrics of the same.
 */
export class Reports {
  readonly #log: Logger;
  /** What was said last, by source and subject: the source itself, or a companion. Holds only what is wrong now. */
  readonly #said = new Map<string, Map<string, Problem>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The source's annotations are bad; until they change nothing is written for it (SPEC R13). */
  invalidSource(source: ObjectKey, problem: string): void {
    this.#problem(
      source,
      source,
      'warn',
      'source is invalid: its companions stay as they are',
      { source },
      problem,
    );
  }

  validSource(source: ObjectKey): void {
    this.#resolved(source, source);
  }

  /** Forgets what was said of companions that the source's plan no longer has. */
  keepOnly(source: ObjectKey, plan: readonly Step[]): void {
    const ofSource = this.#said.get(source);
    if (ofSource === undefined) return;
    const planned = new Set<string>(plan.map((step) => step.companion));
    for (const subject of ofSource.keys()) if (!planned.has(subject)) ofSource.delete(subject);
    if (ofSource.size === 0) this.#said.delete(source);
  }

  /** A companion that is not written, and why. */
  leftAlone(source: ObjectKey, step: Extract<Step, { readonly action: 'none' }>): void {
    const { companion, reason } = step;
    const fields = { source, companion };
    switch (step.state) {
      case 'conflict':
        this.#problem(source, companion, 'warn', 'companion is in conflict', fields, reason);
        break;
      case 'refused':
        this.#problem(
          source,
          companion,
          step.named ? 'warn' : 'debug',
          'companion is refused',
          fields,
          reason,
        );
        break;
      case 'retained':
        this.#problem(source, companion, 'info', 'companion is retained', fields, reason);
        break;
      case 'no namespace':
        this.#problem(source, companion, 'warn', 'target namespace does not exist', fields, reason);
        break;
      case 'waiting':
        this.#problem(source, companion, 'debug', 'companion waits', fields, reason);
        break;
      case 'in sync':
        this.#resolved(source, companion);
    }
  }

  /** A write failed. Trouble with the server as a whole is said once, not for each companion. */
  failed(source: ObjectKey, companion: ObjectKey, error: unknown): void {
    const reason = describeError(error);
    if (error instanceof BlockedError) {
      this.#problem(source, companion, 'warn', 'companion is in conflict', { source, companion }, reason);
    } else if (isOutage(error)) {
      this.serverFails(error);
    } else {
      this.#problem(source, companion, 'warn', 'companion cannot be written', { source, companion }, reason);
    }
  }

  /** The server does not answer, or cannot. Its texts vary from try to try; it is one problem all the same. */
  serverFails(error: unknown): void {
    const problem = { level: 'warn', message: 'API server fails; retrying', identity: '' } as const;
    this.#say(API_SERVER, API_SERVER, { ...problem, fields: { reason: describeError(error) } });
  }

  serverAnswers(): void {
    this.#resolved(API_SERVER, API_SERVER);
  }

  written(source: ObjectKey, companion: ObjectKey): void {
    this.serverAnswers();
    this.#resolved(source, companion);
  }

  /** Somebody keeps undoing our heals (SPEC R14). */
  fight(source: ObjectKey, companion: ObjectKey, editedBy: string | undefined): void {
    const fields = { source, companion, fieldManager: editedBy ?? 'unknown' };
    const message = 'companion is fought over; heals are slowed down';
    this.#say(FIGHT, companion, { level: 'warn', message, identity: '', fields });
  }

  peace(companion: ObjectKey): void {
    this.#resolved(FIGHT, companion);
  }

  /** The name is left to a source that comes first. */
  deferred(source: ObjectKey, companion: ObjectKey, reason: string): void {
    this.#problem(source, companion, 'warn', 'companion is in conflict', { source, companion }, reason);
  }

  /** What a dry run would have done. */
  wouldWrite(source: ObjectKey, step: WriteStep): void {
    const fields = { source, companion: step.companion, action: step.action };
    this.#problem(source, step.companion, 'info', 'dry run: would write', fields, step.reason);
  }

  #problem(
    source: ObjectKey,
    subject: ObjectKey,
    level: Level,
    message: string,
    fields: LogFields,
    reason: string,
  ): void {
    this.#say(source, subject, { level, message, identity: reason, fields: { ...fields, reason } });
  }

  #say(group: string, subject: string, problem: Problem): void {
    // Of what is no problem to anybody nothing is remembered: it may be one for each namespace and source.
    if (problem.level === 'debug') {
      this.#resolved(group, subject);
      this.#log.debug(problem.fields, problem.message);
      return;
    }
    const ofGroup = this.#said.get(group) ?? new Map<string, Problem>();
    const said = ofGroup.get(subject);
    if (said?.message === problem.message && said.identity === problem.identity) return;
    this.#said.set(group, ofGroup.set(subject, problem));
    this.#log[problem.level](problem.fields, problem.message);
  }

  #resolved(group: string, subject: string): void {
    const ofGroup = this.#said.get(group);
    const said = ofGroup?.get(subject);
    if (ofGroup === undefined || said === undefined) return;
    ofGroup.delete(subject);
    if (ofGroup.size === 0) this.#said.delete(group);
    const { reason: _, ...fields } = said.fields;
    this.#log[said.level]({ ...fields, was: said.message }, 'problem is over');
  }
}
