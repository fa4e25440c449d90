import { type Clock, sleep } from '../clock/clock.ts';
import type { Controller } from '../controller/controller.ts';
import type { Lister } from '../informer/lister.ts';
import { ApiError, NetworkError } from '../kube/errors.ts';
import type { Command } from './commands.ts';
import type { Narrator } from './narrator.ts';
import type { Step } from './step.ts';
import { type LogRecord, type SeenConfigMap, View } from './view.ts';

/** The demo cannot go on: a step failed, or a person interrupted it. */
export class DemoError extends Error {
  override readonly name = 'DemoError';
}

export interface PlayerDeps {
  readonly narrator: Narrator;
  readonly clock: Clock;
  /** Ends the demo in good order. */
  readonly signal: AbortSignal;
  /** Called before each step, for a person to follow. Resolves early if the signal aborts. */
  readonly pause: () => Promise<void>;
  /** Does what a person would do by typing the command; rejects when the API server refuses. */
  readonly send: (command: Command) => Promise<unknown>;
  /** Lets the API server fail or recover for the controller; undefined where nobody can do that. */
  readonly setFailing: ((failing: boolean) => void) | undefined;
  /** What the demo sees of the cluster. */
  readonly configMaps: Lister<SeenConfigMap>;
  /** The controller's log, which grows. */
  readonly records: readonly LogRecord[];
  readonly controller: Pick<Controller, 'isSettled'>;
}

/** How often (ms) a question is asked. It looks only at what was received already. */
const POLL_MS = 1;
/** Time limit (ms) for an answer. All steps take milliseconds, the longest about a second. */
const LIMIT_MS = 10_000;

const NO_OUTAGE_HERE =
  'a real API server cannot be made to fail for this controller alone. Without --context the demo runs on its ' +
  'sandbox, which can.';

/**
 * Asks until the answer is not false, and resolves to it.
 * @throws DemoError that says what was expected, after ten seconds or when the signal aborts.
 */
export async function answerTo<T>(
  question: () => T | false,
  { clock, signal }: Pick<PlayerDeps, 'clock' | 'signal'>,
  expected: string,
  view: View,
): Promise<T> {
  const end = clock.now() + LIMIT_MS;
  for (;;) {
    const answer = question();
    if (answer !== false) return answer;
    if (signal.aborted) throw new DemoError('interrupted before the first step');
    if (clock.now() >= end) {
      throw new DemoError(`expected ${expected} within ${LIMIT_MS / 1000} s; found ${view}`);
    }
    await sleep(clock, POLL_MS, signal);
  }
}

/**
 * Plays chapters, by title: explains each step, does it, checks the effect, and shows the log.
 * @throws DemoError at the first step that fails, and when the signal aborts.
 */
export async function play(
  chapters: Readonly<Record<string, readonly Step[]>>,
  deps: PlayerDeps,
): Promise<void> {
  const { narrator, pause, setFailing, signal } = deps;
  let [number, skipped, durationMs] = [0, 0, 0];
  for (const [title, steps] of Object.entries(chapters)) {
    narrator.chapter(title);
    for (const step of steps) {
      number += 1;
      await pause();
      if (signal.aborted) throw interrupted(number);
      narrator.title(number, step.title);
      if (step.outageUntil !== undefined && setFailing === undefined) {
        narrator.end('-', `SKIPPED: ${NO_OUTAGE_HERE}`);
        skipped += 1;
      } else {
        durationMs += await playStep(step, number, deps);
      }
    }
  }
  const missed = skipped === 0 ? '' : `, ${skipped} SKIPPED as said above`;
  narrator.say(
    `${number - skipped} steps, all as expected${missed}, in ${(durationMs / 1000).toFixed(1)} s.`,
  );
}

/** Resolves to the step's time (ms), from its last command to its effect. */
async function playStep(step: Step, number: number, deps: PlayerDeps): Promise<number> {
  const { narrator, clock, signal, configMaps, records, controller } = deps;
  const view = new View(configMaps, records);
  narrator.story(step.story);
  for (const { line } of step.commands) narrator.command(line);
  try {
    const start = await act(step, view, deps);
    const seen = await answerTo(() => step.effect(view), deps, step.expected, view);
    const durationMs = clock.now() - start;
    // The demo may see a write before the controller has its answer, and with that its log line.
    await answerTo(() => controller.isSettled(), deps, 'the controller to settle', view);
    narrator.log(view.log);
    narrator.seen(seen, durationMs);
    return durationMs;
  } catch (error) {
    if (signal.aborted) throw interrupted(number);
    narrator.log(view.log);
    narrator.end('✗', 'this step failed');
    throw new DemoError(`step ${number}, "${step.title}", failed: ${reasonOf(error)}`);
  }
}

/** Sends the step's commands. Resolves to the time of the last one. */
async function act(step: Step, view: View, deps: PlayerDeps): Promise<number> {
  const { clock, signal, send, setFailing } = deps;
  const { outageUntil } = step;
  let start = clock.now();
  try {
    setFailing?.(outageUntil !== undefined);
    for (const command of step.commands) {
      signal.throwIfAborted();
      start = clock.now();
      await send(command);
    }
    if (outageUntil !== undefined) await answerTo(() => outageUntil(view), deps, step.expected, view);
  } finally {
    setFailing?.(false);
  }
  return start;
}

function interrupted(number: number): DemoError {
  return new DemoError(`interrupted in step ${number}`);
}

/** Throws the error again when it is not ours, the API server's or the network's: that is a bug. */
function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return `the API server answered ${error.status}: ${error.message}`;
  if (error instanceof NetworkError || error instanceof DemoError) return error.message;
  throw error;
}
