import type { Handler } from '../../src/informer/handler.ts';
import { createInformer, type Informer } from '../../src/informer/informer.ts';
import type { ListWatch } from '../../src/kube/api/list-watch.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { RecordedLog } from './recorded-log.ts';
import { type ListReply, ScriptedListWatch, type WatchStep } from './scripted-list-watch.ts';
import { byColour, type StoredWidget, storeWidget, type Widget } from './widgets.ts';

/**
 * Keeps what an informer's handlers were told: as lines (`add default/a@1`), and folded into a
 * state.
 */
class Replay implements Handler<StoredWidget> {
  readonly told: string[] = [];
  readonly state = new Map<string, StoredWidget>();
  readonly faults: string[] = [];

  add(item: StoredWidget): void {
    this.told.push(`add ${item.key}@${item.resourceVersion}`);
    if (this.state.has(item.key)) this.faults.push(`add of ${item.key}, which was there`);
    this.state.set(item.key, item);
  }

  update(old: StoredWidget, item: StoredWidget): void {
    this.told.push(`update ${item.key}@${old.resourceVersion}->${item.resourceVersion}`);
    if (this.state.get(old.key) !== old) this.faults.push(`update of ${item.key} from a state never told`);
    if (old.uid !== item.uid) this.faults.push(`update of ${item.key} across uids`);
    this.state.set(item.key, item);
  }

  historyRestarted(): void {
    this.told.push('history restarted');
  }

  delete(item: StoredWidget, tombstone: boolean): void {
    this.told.push(`delete ${item.key}@${item.resourceVersion}${tombstone ? ' (tombstone)' : ''}`);
    if (this.state.get(item.key) !== item) this.faults.push(`delete of ${item.key} in a state never told`);
    this.state.delete(item.key);
  }
}

export interface RunningOptions {
  /** Default: `storeWidget`. */
  readonly transform?: (raw: Widget) => StoredWidget;
  /** Default: always 0, which leaves every delay at its longest. */
  readonly random?: () => number;
}

export class RunningInformer implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly log = new RecordedLog();
  readonly replay = new Replay();
  /** Why a list or watch was begun again, in order. */
  readonly restarts: string[] = [];
  readonly informer: Informer<StoredWidget, 'colour'>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(
    clock: ManualClock,
    listWatches: ReadonlyMap<string, ListWatch<Widget>>,
    options: RunningOptions = {},
  ) {
    this.clock = clock;
    this.informer = createInformer({
      name: 'widgets',
      listWatches,
      transform: options.transform ?? storeWidget,
      indexers: byColour,
      clock,
      random: options.random ?? (() => 0),
      log: this.log,
      onRestart: (reason) => this.restarts.push(reason),
    });
    this.informer.addHandler(this.replay);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  async start(): Promise<void> {
    this.#running = this.informer.run(this.signal);
    await this.clock.advance(0);
  }

  /** `key@version` of all that the lister gives, sorted. */
  get cached(): readonly string[] {
    return Array.from(this.informer.lister.values(), (item) => `${item.key}@${item.resourceVersion}`).sort();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

export interface Script extends RunningOptions {
  readonly lists?: readonly ListReply<Widget>[];
  readonly watches?: readonly (readonly WatchStep<Widget>[])[];
  /** Default: the server's history has gone on. */
  readonly checks?: readonly ListReply<Widget>[];
  /** Default: a new one. */
  readonly clock?: ManualClock;
}

/** Starts an informer on one scripted server. Stop it, or hold it with `await using`. */
export async function startInformer(
  script: Script,
): Promise<RunningInformer & { readonly server: ScriptedListWatch<Widget> }> {
  const clock = script.clock ?? new ManualClock();
  const server = new ScriptedListWatch<Widget>(clock, script);
  const running = new RunningInformer(clock, new Map([['*', server]]), script);
  await running.start();
  return Object.assign(running, { server });
}
