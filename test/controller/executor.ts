import { CompanionMemory } from '../../src/controller/memory/companion-memory.ts';
import { Deletions } from '../../src/controller/memory/deletions.ts';
import type { Happening } from '../../src/controller/memory/happening.ts';
import { Reports } from '../../src/controller/memory/reports.ts';
import { SourceVersions } from '../../src/controller/memory/source-versions.ts';
import { Planner } from '../../src/controller/reconcile/planner.ts';
import { Reconciler } from '../../src/controller/reconcile/reconciler.ts';
import { MutationCache } from '../../src/controller/write/mutation-cache.ts';
import { Renderings } from '../../src/controller/write/renderings.ts';
import { SourceBodies } from '../../src/controller/write/source-bodies.ts';
import { WriteQueue } from '../../src/controller/write/write-queue.ts';
import { WriteRate } from '../../src/controller/write/write-rate.ts';
import { Writer } from '../../src/controller/write/writer.ts';
import type { ObjectKey } from '../../src/kube/api/object-key.ts';
import { sourceReference } from '../../src/mirror/observe/observed-config-map.ts';
import type { ClusterView } from '../../src/mirror/plan/view.ts';
import { DelayingQueue } from '../../src/workqueue/delaying-queue.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { MemoryApi } from './memory-api.ts';

/** The controller between its queue and the API, without informers: it sees `seen`. */
export class Executor {
  readonly clock = new ManualClock();
  readonly log = new RecordedLog();
  readonly happenings: Happening[] = [];
  readonly queue = new DelayingQueue<ObjectKey>({ clock: this.clock });
  readonly memory = new CompanionMemory(this.clock, () => 0);
  readonly deletions = new Deletions(this.clock);
  readonly versions = new SourceVersions(this.clock);
  readonly writes: WriteQueue;
  readonly reconciler: Reconciler;
  readonly writer: Writer;
  /** Whether this process is the leader. */
  isLeader = true;

  constructor(
    api: MemoryApi,
    seen: ClusterView,
    options: { readonly dryRun?: boolean; readonly maxWritesPerSecond?: number } = {},
  ) {
    const { clock, log, queue, memory } = this;
    const { dryRun = false, maxWritesPerSecond = 0 } = options;
    const rate = new WriteRate(maxWritesPerSecond, clock);
    const { vocabulary } = seen.settings;
    // Whatever else changes in `seen` shows.
    const view: ClusterView = Object.assign(Object.create(seen), {
      now: () => clock.wallTime().getTime(),
      dueFrom: (namespace: string, own: readonly string[]) => {
        const found = seen.dueFrom(namespace, own);
        return {
          ...found,
          counted: new Set([...found.counted, ...this.deletions.recent(namespace), ...own]),
        };
      },
      unsettledMs: (source: ObjectKey, settleMs: number) => this.versions.unsettledMs(source, settleMs),
      unwantedMs: (source: ObjectKey, companion: ObjectKey) => memory.unwantedMs(source, companion),
    });
    const bodies = new SourceBodies(api, 2 ** 20);
    const mutations = new MutationCache(clock, (companion) => sourceReference(companion, vocabulary));
    const emit = (happening: Happening) => void this.happenings.push(happening);
    const mayWrite = () => this.isLeader;
    const reports = new Reports({ log, memory, view, emit });
    const renderings = new Renderings({ view, bodies, clock });
    const shared = { view, api, renderings, bodies, memory, reports, queue, mayWrite, clock, log, emit };
    const { deletions, versions } = this;
    const planner = new Planner({ ...shared, deletions, versions, areNamespacesSynced: () => true });
    const writer = new Writer({ ...shared, deletions, mutations, rate });
    this.writer = writer;
    this.writes = new WriteQueue({
      slots: 32,
      rate,
      clock,
      isOutdated: (pass) => writer.isOutdated(pass),
      requeue: (source, lane) => queue.add(source, lane),
    });
    this.reconciler = new Reconciler({ ...shared, planner, writes: this.writes, dryRun });
  }

  /** One pass over the source, and those of its writes that need not wait, one by one. */
  async pass(key: ObjectKey): Promise<void> {
    const pass = this.reconciler.reconcile(key);
    await this.carryOut();
    await pass;
  }

  /** The writes of the passes under way, one by one. */
  async carryOut(): Promise<void> {
    // The plan may need a live read first.
    await new Promise(setImmediate);
    while (!this.writes.isIdle) {
      const write = await this.writes.get();
      if (write === undefined) break;
      await this.writer.write(write);
      this.writes.done(write);
    }
  }
}
