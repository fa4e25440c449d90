import { type Clock, sleep } from '../clock/clock.ts';
import type { Lister } from '../informer/lister.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { Changes } from './changes.ts';
import type { Command } from './command.ts';
import type { SeenConfigMap } from './config-maps-seen.ts';
import { DemoError, refusalOf } from './demo-error.ts';
import type { LogRecords } from './log-records.ts';
import type { Narrator } from './narrator.ts';
import { describeData } from './sight.ts';
import type { Chapter, Scene, Step } from './step.ts';

export interface PlayerDeps {
  /** Does what a person would do by typing the command; rejects when the API server refuses. */
  readonly send: (command: Command) => Promise<unknown>;
  /** What the demo sees, of the cluster and of the controller's log; `changes` tells when either has changed. */
  readonly configMaps: Lister<SeenConfigMap>;
  readonly log: LogRecords;
  readonly changes: Changes;
  readonly narrator: Narrator;
  readonly clock: Clock;
  /** Ends the play. */
  readonly signal: AbortSignal;
  /** The effect of a step is waited for so long, milliseconds. */
  readonly deadlineMs: number;
  /** To follow what goes by, milliseconds before each step; 0: as fast as it goes. */
  readonly pauseMs: number;
  /** Lets the API server fail, or recover; absent where that is not in our power. */
  readonly setFailing?: ((failing: boolean) => void) | undefined;
}

export interface Tally {
  /** Steps. */
  readonly held: number;
  readonly skipped: number;
  /** Pauses included. */
  readonly durationMs: number;
}

const NO_OUTAGE_HERE =
  'a real API server cannot be told to fail for this controller alone. Without --context the workshop plays on ' +
  'its sandbox, which can.';

/** Plays a script: says each step, does it, and looks whether it holds. */
export class Player {
  readonly #deps: PlayerDeps;

  constructor(deps: PlayerDeps) {
    this.#deps = deps;
  }

  /** @throws DemoError at the first step that does not hold, and when it is interrupted. */
  async play(script: readonly Chapter[]): Promise<Tally> {
    const { narrator, clock, pauseMs, signal } = this.#deps;
    const start = clock.now();
    let [held, skipped] = [0, 0];
    for (const chapter of script) {
      narrator.chapter(chapter.title);
      for (const step of chapter.steps) {
        const number = held + skipped + 1;
        if (pauseMs > 0) await sleep(clock, pauseMs, signal);
        narrator.title(number, step.title);
        if (step.outageUntil !== undefined && this.#deps.setFailing === undefined) {
          narrator.skipped(NO_OUTAGE_HERE);
          skipped += 1;
          continue;
        }
        narrator.story(step.story);
        for (const { line } of step.commands) narrator.command(line);
        const { what, durationMs } = await this.#perform(step, number);
        narrator.seen(what, durationMs);
        held += 1;
      }
    }
    return { held, skipped, durationMs: clock.now() - start };
  }

  async #perform(step: Step, number: number): Promise<{ what: string; durationMs: number }> {
    const { clock, setFailing } = this.#deps;
    const scene = this.#scene();
    const { outageUntil } = step;
    let start = clock.now();
    try {
      if (outageUntil !== undefined) setFailing?.(true);
      for (const command of step.commands) {
        start = clock.now();
        await this.#send(command, step, number);
      }
      if (outageUntil !== undefined) await this.#until(() => outageUntil(scene) || undefined, step, number);
    } finally {
      if (outageUntil !== undefined) setFailing?.(false);
    }
    const what = await this.#until(() => step.effect(scene), step, number);
    return { what, durationMs: clock.now() - start };
  }

  async #send(command: Command, step: Step, number: number): Promise<void> {
    if (this.#deps.signal.aborted) throw this.#interrupted(number);
    try {
      await this.#deps.send(command);
    } catch (error) {
      throw this.#failed(step, number, `the API server to take "${command.line}"`, refusalOf(error));
    }
  }

  async #until<T>(question: () => T | undefined, step: Step, number: number): Promise<T> {
    const { changes, clock, signal, deadlineMs } = this.#deps;
    const answer = await changes.until(question, { clock, signal, deadlineMs });
    if (answer !== undefined) return answer;
    if (signal.aborted) throw this.#interrupted(number);
    throw this.#failed(step, number, `${step.expected} within ${deadlineMs / 1000} s`, this.#describeAll());
  }

  #failed({ title }: Step, number: number, expected: string, found: string): DemoError {
    this.#deps.narrator.failed();
    return new DemoError(`step ${number}, "${title}", does not hold: expected ${expected}; found ${found}`);
  }

  #interrupted(number: number): DemoError {
    return new DemoError(`interrupted in step ${number}`);
  }

  #scene(): Scene {
    const { configMaps, log } = this.#deps;
    const before = new Map<ObjectKey, SeenConfigMap>();
    for (const seen of configMaps.values()) before.set(seen.key, seen);
    const logged = log.count;
    return {
      now: (key) => configMaps.get(key),
      before: (key) => before.get(key),
      get log() {
        return log.since(logged);
      },
    };
  }

  #describeAll(): string {
    const seen = [...this.#deps.configMaps.values()]
      // Kubernetes puts it into every namespace, and its data is a certificate.
      .filter(({ key }) => !key.endsWith('/kube-root-ca.crt'))
      .map((object) => `${object.key} (${describeData(object)})`);
    const complaint = this.#deps.log.lastComplaint();
    const said = complaint === undefined ? '' : `; the controller said: ${complaint}`;
    return `${seen.length === 0 ? 'no ConfigMaps' : seen.sort().join(', ')}${said}`;
  }
}
