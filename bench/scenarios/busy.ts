import type { Figure } from '../report/figure.ts';
import { percentile } from '../report/statistics.ts';
import type { Observer } from '../testbed/observer.ts';
import { names, source } from '../testbed/sources.ts';
import type { Testbed } from '../testbed/testbed.ts';
import { TimedChanges } from '../testbed/timed-changes.ts';
import type { Scenario } from './scenario.ts';

const ROUNDS = 5;

/** How long small changes take while the controller writes one source's 1,000 companions. */
export const busy: Scenario = {
  name: 'busy',
  describe: `edits, heals and new namespaces of other sources, during ${ROUNDS} edits of a source with 1,000 companions`,
  measure: async (testbed) => {
    const wideTargets = names(`${testbed.prefix}target-`, testbed.size(1000));
    const home = `${testbed.prefix}home`;
    await testbed.createNamespaces([home, ...wideTargets]);
    const small = names('small-', 100);
    await testbed.load.createAll([
      source(home, 'wide', 1024, `${testbed.prefix}target-*`),
      source(home, 'follows', 1024, `${testbed.prefix}new-*`),
      ...small.map((name) => source(home, name)),
    ]);
    using all = await testbed.observe();
    using near = await testbed.observe({ namespace: home, data: true });
    const complete = all.collect(wideTargets.length + small.length, () => true);
    await testbed.start();
    await complete;
    await testbed.settle();

    const person = new Person(testbed, all, new TimedChanges(testbed.load, near, home), small);
    while (person.rounds < testbed.size(50)) await person.round();
    const quiet = person.take();
    const fanOuts: number[] = [];
    for (const version of names('round-', ROUNDS)) {
      const start = performance.now();
      let isOver = false;
      const fanOut = async () => {
        const companions = all.collect(
          wideTargets.length,
          (seen) => seen.object.metadata.name === 'wide-synced',
        );
        await Promise.all([companions, testbed.load.edit(home, 'wide', version)]);
        fanOuts.push(performance.now() - start);
      };
      // A change made during the fan-out counts even when it completes after it.
      const meanwhile = async () => {
        while (!isOver) await person.round();
      };
      await Promise.all([
        fanOut().finally(() => {
          isOver = true;
        }),
        meanwhile(),
      ]);
      await testbed.settle();
    }
    return [
      ...compare(quiet, person.take()),
      { name: 'the fan-out itself', unit: 'ms', value: percentile(fanOuts, 0.5) },
    ];
  },
};

type Kind = 'edit' | 'heal' | 'new namespace';
type Latencies = Readonly<Record<Kind, number[]>>;

const none = (): Latencies => ({ edit: [], heal: [], 'new namespace': [] });

/** One person who makes one change after the other, and waits for each. */
class Person {
  readonly #testbed: Testbed;
  readonly #observer: Observer;
  readonly #changes: TimedChanges;
  readonly #sources: readonly string[];
  #latencies = none();
  rounds = 0;

  constructor(testbed: Testbed, observer: Observer, changes: TimedChanges, sources: readonly string[]) {
    this.#testbed = testbed;
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
      await this.#newNamespace(`${this.#testbed.prefix}new-${this.rounds}`),
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
      () => this.#testbed.createNamespaces([namespace]),
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
      { name: `${kind}, during a fan-out: longest`, unit: 'ms', value: percentile(during[kind], 1) },
      { name: `${kind}: that p99 in quiet p50s`, unit: 'times', value: p99 / p50 },
    ] as const;
  });
}
