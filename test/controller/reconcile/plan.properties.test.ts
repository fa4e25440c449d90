import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOf, splitKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { digestOf } from '../../../src/mirror/observe/digest.ts';
import type { Step } from '../../../src/mirror/plan/step.ts';
import { type Ask, isOurs, namesItself, wantedKeys } from '../../mirror/model.ts';
import { type RandomWorld, randomWorld } from '../../mirror/random-world.ts';
import { inWords, isWrite, objectAt, planFor, type World, type WriteStep } from '../../mirror/world.ts';
import { carryOut } from '../carry-out.ts';

const RUNS = { numRuns: 300 };

/** The key of every source, and every key that a companion refers to. */
function keysIn({ world, asks }: RandomWorld): readonly string[] {
  const references = world.configMaps.map(
    (object) => object.metadata.annotations?.['workshop.io/source'] ?? 'a/s',
  );
  return [...new Set([...asks.map(({ key }) => key), ...references])].sort();
}

/** Every write of the plans for all keys, with the source. */
function writesIn(random: RandomWorld): readonly { key: string; ask: Ask | undefined; step: WriteStep }[] {
  return keysIn(random).flatMap((key) =>
    planFor(key, random.world)
      .filter(isWrite)
      .map((step) => ({ key, ask: random.asks.find((ask) => ask.key === key), step })),
  );
}

/** The planned writes, without creates that meet an object which the watch does not show. */
function possibleWrites(key: string, world: World): readonly string[] {
  const isBlocked = (step: WriteStep) =>
    step.action === 'create' && objectAt(world, step.companion) !== undefined;
  return inWords(
    planFor(key, world)
      .filter(isWrite)
      .filter((step) => !isBlocked(step)),
  );
}

test('[R1] after a plan was carried out nothing is left to write', async () => {
  await fc.assert(
    fc.asyncProperty(randomWorld, async (random) => {
      for (const key of keysIn(random)) {
        const after = await carryOut(key, random.world);
        expect(possibleWrites(key, after)).toEqual([]);
        expect(await carryOut(key, after)).toEqual(after);
      }
    }),
    RUNS,
  );
});

test('[M9] all plans together settle, and then write nothing', async () => {
  await fc.assert(
    fc.asyncProperty(randomWorld, async (random) => {
      const round = async (world: World) => {
        let now = world;
        for (const key of keysIn({ ...random, world })) now = await carryOut(key, now);
        return now;
      };
      // One round for each source that may wait for another to give up a name, and one more.
      let settled = random.world;
      for (let rounds = 0; rounds < 5; rounds += 1) settled = await round(settled);
      expect(await round(settled)).toEqual(settled);
    }),
    RUNS,
  );
});

test('[R1] the order of the objects in the world does not matter', () => {
  const shuffled = randomWorld.chain((random) =>
    fc
      .tuple(
        fc.shuffledSubarray([...random.world.configMaps], { minLength: random.world.configMaps.length }),
        fc.shuffledSubarray([...random.world.namespaces], { minLength: random.world.namespaces.length }),
      )
      .map(([configMaps, namespaces]) => ({ random, other: { ...random.world, configMaps, namespaces } })),
  );
  fc.assert(
    fc.property(shuffled, ({ random, other }) => {
      for (const key of keysIn(random)) {
        expect(inWords(planFor(key, other))).toEqual(inWords(planFor(key, random.world)));
      }
    }),
    RUNS,
  );
});

test('[R6] nothing that is not ours is ever updated or replaced', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      for (const { key, ask, step } of writesIn(random)) {
        if (step.action === 'create' || step.action === 'delete') continue;
        const object = objectAt(random.world, step.companion);
        if (object === undefined) throw new Error('an update of nothing');
        if (step.state === 'retained') {
          const uid = objectAt(random.world, key)?.metadata.uid;
          expect(isOurs(object, { key, uid })).toBe(true);
          continue;
        }
        if (ask === undefined) throw new Error('an update for nobody');
        expect(isOurs(object, ask)).toBe(true);
        expect(splitKey(step.companion).name).toBe(ask.companionName);
      }
    }),
    RUNS,
  );
});

test('[R8] only our companions that carry their own name are deleted', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      for (const { key, step } of writesIn(random)) {
        if (step.action !== 'delete') continue;
        const object = objectAt(random.world, step.companion);
        if (object === undefined) throw new Error('a delete of nothing');
        const uid = objectAt(random.world, key)?.metadata.uid;
        expect([isOurs(object, { key, uid }), namesItself(object)]).toEqual([true, true]);
        expect([step.actual.uid, step.actual.resourceVersion]).toEqual([
          object.metadata.uid,
          object.metadata.resourceVersion,
        ]);
      }
    }),
    RUNS,
  );
});

test('[R4] a retained companion is marked so and has no owner reference to its source', async () => {
  await fc.assert(
    fc.asyncProperty(randomWorld, async (random) => {
      for (const key of keysIn(random)) {
        const after = await carryOut(key, random.world);
        for (const step of planFor(key, after)) {
          if (step.state !== 'retained') continue;
          const { annotations, ownerReferences = [] } = objectAt(after, step.companion)?.metadata ?? {};
          expect(annotations).toHaveProperty(['workshop.io/deletion-policy'], 'retain');
          expect(ownerReferences.map(({ uid }) => uid)).not.toContain(`uid of ${key}`);
          const before = objectAt(random.world, step.companion);
          expect(objectAt(after, step.companion)?.data).toEqual(before?.data);
        }
      }
    }),
    RUNS,
  );
});

test('[P3] nothing is written or deleted where consent is malformed or unknown', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      const { accepts } = random.rules;
      for (const { key, step } of writesIn(random)) {
        const { namespace } = splitKey(step.companion);
        if (key.startsWith(`${namespace}/`)) continue;
        expect([accepts.has(namespace), accepts.get(namespace) === 'malformed']).toEqual([true, false]);
      }
    }),
    RUNS,
  );
});

test('[M8] no source is ever written, whatever its name', async () => {
  await fc.assert(
    fc.asyncProperty(randomWorld, async (random) => {
      const sources = new Set(random.asks.map(({ key }) => key));
      const written = writesIn(random).filter(({ step }) => sources.has(step.companion));
      // A create that meets an object without our label leaves it alone.
      expect(written.filter(({ step }) => step.action !== 'create')).toEqual([]);
      let after = random.world;
      for (const key of keysIn(random)) after = await carryOut(key, after);
      for (const key of sources) expect(objectAt(after, key)).toEqual(objectAt(random.world, key));
    }),
    RUNS,
  );
});

test('[M2] the planned companions are those of the naive model', () => {
  const isWanted = ({ state, reason }: Step) =>
    (['in sync', 'missing', 'drifted', 'conflict'].includes(state) && !reason.endsWith('may be a copy')) ||
    reason.endsWith('will be recreated');
  fc.assert(
    fc.property(randomWorld, ({ world, asks, rules }) => {
      for (const ask of asks) {
        const plan = planFor(ask.key, world);
        const wanted = plan.filter(isWanted).map(({ companion }) => companion);
        expect(wanted.sort()).toEqual([...wantedKeys(ask, world.namespaces, rules)].sort());
      }
    }),
    RUNS,
  );
});

/** What the companions of a source should hold. */
function selectedData(of: ConfigMap | undefined): Readonly<Record<string, string>> {
  const { l: excluded, ...others } = of?.data ?? {};
  const excludes = of?.metadata.annotations?.['workshop.io/exclude-keys'] === 'l';
  return excludes || excluded === undefined ? others : { ...others, l: excluded };
}

/** The companions that a source should have and that nothing prevents. */
function companionsOf(ask: Ask, now: World, { world, rules }: RandomWorld): readonly ConfigMap[] {
  const wanted = wantedKeys(ask, world.namespaces, rules);
  return now.configMaps.filter((object) => {
    const key = keyOf(object);
    return wanted.has(key) && !object.metadata.deletionTimestamp && isOurs(object, ask);
  });
}

test('[M3] if nothing prevents it, a companion holds the selected keys, byte for byte', async () => {
  await fc.assert(
    fc.asyncProperty(randomWorld, async (random) => {
      for (const ask of random.asks) {
        const data = selectedData(objectAt(random.world, ask.key));
        const after = await carryOut(ask.key, random.world);
        for (const object of companionsOf(ask, after, random)) {
          expect(object.data ?? {}).toEqual(data);
          expect(object.metadata.annotations).toMatchObject({
            'workshop.io/source': ask.key,
            'workshop.io/source-uid': ask.uid,
            'workshop.io/source-checksum': digestOf({ data, binaryData: {} }),
            'workshop.io/companion': keyOf(object),
          });
        }
      }
    }),
    RUNS,
  );
});

test('[R7] a free name goes to the oldest source, then by namespace and name', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      const { world, asks, rules } = random;
      const ageOf = ({ key }: Ask) => objectAt(world, key)?.metadata.creationTimestamp ?? '';
      const inLine = [...asks].sort((a, b) => (`${ageOf(a)} ${a.key}` < `${ageOf(b)} ${b.key}` ? -1 : 1));
      const creates = writesIn(random).filter(({ step }) => step.action === 'create');
      for (const { key, step } of creates) {
        const first = inLine.find((ask) => wantedKeys(ask, world.namespaces, rules).has(step.companion));
        expect(first?.key).toBe(key);
      }
      expect(new Set(creates.map(({ step }) => step.companion)).size).toBe(creates.length);
    }),
    RUNS,
  );
});
