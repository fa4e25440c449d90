import { Changes } from '../changes.ts';
import type { Observer } from '../observer.ts';
import type { Figure, Scenario } from '../scenario.ts';
import { names, source } from '../sources.ts';
import { percentile } from '../statistics.ts';
import type { World } from '../world.ts';

const ROUNDS = 5;

/** What somebody waits for, while the controller writes the companions of one source in 1,000 namespaces. */
export const busy: Scenario = {
  name: 'busy',
  describe: `edits, heals and new namespaces of other sources, during ${ROUNDS} edits of a source with 1,000 companions`,
  measure: async (world) => {
    const wideTargets = names(`${world.prefix}target-`, world.size(1000));
    const home = `${world.prefix}home`;
    await world.createNamespaces([home, ...wideTargets]);
    const small = names('small-', 100);
    await world.load.createAll([
      source(home, 'wide', 1024, `${world.prefix}target-*`),
      source(home, 'follows', 1024, `${world.prefix}new-*`),
      ...small.map((name) => source(home, name)),
    ]);
    using all = await world.observe();
    using near = await world.observe({ namespace: home, data: true });
    const complete = all.collect(wideTargets.length + small.length, () => true);
    await world.start();
    await complete;
    await world.settle();

    const people = new People(world, all, new Changes(world, near, home), small);
    while (people.rounds < world.size(50)) await people.round();
    const quiet = people.take();
    const fanOuts: number[] = [];
    for (const version of names('round-', ROUNDS)) {
      const start = performance.now();
      let isOver = false;
      const fanOut = async () => {
        const companions = all.collect(
          wideTargets.length,
          (seen) => seen.object.metadata.name === 'wide-synced',
        );
        await Promise.all([companions, world.load.edit(home, 'wide', version)]);
        fanOuts.push(performance.now() - start);
      };
      // A change counts when it was made during the fan-out, even if it is answered only after it.
      const meanwhile = async () => {
        while (!isOver) await people.round();
      };
      await Promise.all([
        fanOut().finally(() => {
          isOver = true;
        }),
        meanwhile(),
      ]);
      await world.settle();
    }
    return [
      ...compare(quiet, people.take()),
      { name: 'the fan-out itself', unit: 'ms', value: percentile(fanOuts, 0.5) },
    ];
  },
};

type Kind = 'edit' | 'heal' | 'new namespace';
type Latencies = Readonly<Record<Kind, number[]>>;

const none = (): Latencies => ({ edit: [], heal: [], 'new namespace': [] });

/** Somebody who does one thing after the other, and waits each time. */
class People {
  readonly #world: World;
  readonly #observer: Observer;
  readonly #changes: Changes;
  readonly #sources: readonly string[];
  #latencies = none();
  rounds = 0;

  constructor(world: World, observer: Observer, changes: Changes, sources: readonly string[]) {
    this.#world = world;
    this.#observer = observer;
    this.#changes = changes;
    this.#sources = sources;
  }

  async round(): Promise<void> {
    const source = this.#sources[this.rounds % this.#sources.length] ?? '';
    this.rounds += 1;
    this.#latencies.edit.push(await this.#changes.edit(source));
    this.#latencies.heal.push(await this.#changes.tamper(source));
    this.#latencies['new namespace'].push(
      await this.#newNamespace(`${this.#world.prefix}new-${this.rounds}`),
    );
  }

  /** The latencies since the last call. */
  take(): Latencies {
    const latencies = this.#latencies;
    this.#latencies = none();
    return latencies;
  }

  #newNamespace(namespace: string): Promise<number> {
    return this.#observer.latency(
      () => this.#world.createNamespaces([namespace]),
      ({ object }) => object.metadata.namespace === namespace,
    );
  }
}

function compare(quiet: Latencies, during: Latencies): Figure[] {
  return (Object.keys(quiet) as Kind[]).flatMap((kind) => {
    const p50 = percentile(quiet[kind], 0.5);
    const p99 = percentile(during[kind], 0.99);
    return [
      { name: `${kind}, quiet: p50`, unit: 'ms', value: p50 },
      { name: `${kind}, during a fan-out: p50`, unit: 'ms', value: percentile(during[kind], 0.5) },
      { name: `${kind}, during a fan-out: p99`, unit: 'ms', value: p99 },
      { name: `${kind}: that p99 in quiet p50s`, unit: 'times', value: p99 / p50 },
    ] as const;
  });
}
