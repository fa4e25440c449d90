import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOf, splitKey } from '../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import { digestOf } from '../../src/mirror/observe/digest.ts';
import type { Step } from '../../src/mirror/plan/step.ts';
import { carryOut } from './api-server.ts';
import { type Ask, isOurs, namesItself, wantedKeys } from './model.ts';
import { type RandomWorld, randomWorld } from './random-world.ts';
import { inWords, isWrite, type MirrorWorld, objectAt, planFor, type WriteStep } from './world.ts';

const RUNS = { numRuns: 300 };

/**
 * Every key that anything in the world can lead to: that of each source, and of what companions
 * refer to.
 */
function keysIn({ world, asks }: RandomWorld): readonly string[] {
  const references = world.configMaps.map(
    (object) => object.metadata.annotations?.['workshop.io/source'] ?? 'a/s',
  );
  return [...new Set([...asks.map(({ key }) => key), ...references])].sort();
}

/** Every write that a plan for any key asks for, with whose it is. */
function writesIn(random: RandomWorld): readonly { key: string; ask: Ask | undefined; step: WriteStep }[] {
  return keysIn(random).flatMap((key) =>
    planFor(key, random.world)
      .filter(isWrite)
      .map((step) => ({ key, ask: random.asks.find((ask) => ask.key === key), step })),
  );
}

/**
 * The writes that a plan asks for, less the creates that are met by something that the watch does
 * not show.
 */
function possibleWrites(key: string, world: MirrorWorld): readonly string[] {
  const isBlocked = (step: WriteStep) =>
    step.action === 'create' && objectAt(world, step.companion) !== undefined;
  return inWords(
    planFor(key, world)
      .filter(isWrite)
      .filter((step) => !isBlocked(step)),
  );
}

test('[R1] a plan that was carried out leaves nothing to write, and carrying it out again changes nothing', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      for (const key of keysIn(random)) {
        const after = carryOut(key, random.world);
        expect(possibleWrites(key, after)).toEqual([]);
        expect(carryOut(key, after)).toEqual(after);
      }
    }),
    RUNS,
  );
});

test('[M9] all plans together come to rest: a restart over a settled world writes nothing', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      const round = (world: MirrorWorld) =>
        keysIn({ ...random, world }).reduce((now, key) => carryOut(key, now), world);
      // One round for each source that may have to wait for another to give up a name, and one
      // more.
      let settled = random.world;
      for (let rounds = 0; rounds < 5; rounds += 1) settled = round(settled);
      expect(round(settled)).toEqual(settled);
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
      for (const { ask, step } of writesIn(random)) {
        if (step.action === 'create' || step.action === 'delete' || step.state === 'retained') continue;
        const object = objectAt(random.world, step.companion);
        if (object === undefined || ask === undefined) throw new Error('an update of nothing, or for nobody');
        expect(isOurs(object, ask)).toBe(true);
        expect(splitKey(step.companion).name).toBe(ask.companionName);
      }
    }),
    RUNS,
  );
});

test('[R8] what is deleted, or marked to be retained, is ours and says itself that it is no copy', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      for (const { key, step } of writesIn(random)) {
        if (step.action !== 'delete' && step.state !== 'retained') continue;
        const object = objectAt(random.world, step.companion);
        if (object === undefined) throw new Error('a removal of nothing');
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

test('[R4] what stays because of retain says so itself and has no owner reference to its source', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      for (const key of keysIn(random)) {
        const after = carryOut(key, random.world);
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

test('[P3] nothing is written in a namespace whose accept-mirrors-from is malformed, deletes included', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      for (const { key, step } of writesIn(random)) {
        const { namespace } = splitKey(step.companion);
        const isAbroad = !key.startsWith(`${namespace}/`);
        expect(isAbroad && random.rules.accepts.get(namespace) === 'malformed').toBe(false);
      }
    }),
    RUNS,
  );
});

test('[M8] no source is ever the object of a write, whatever it is called', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      const sources = new Set(random.asks.map(({ key }) => key));
      const written = writesIn(random).filter(({ step }) => sources.has(step.companion));
      // One that is not labelled is not seen, and a create that meets it leaves it alone.
      expect(written.filter(({ step }) => step.action !== 'create')).toEqual([]);
      const after = keysIn(random).reduce((now, key) => carryOut(key, now), random.world);
      for (const key of sources) expect(objectAt(after, key)).toEqual(objectAt(random.world, key));
    }),
    RUNS,
  );
});

test('[M2] the companions that a plan wants are those of the naive model', () => {
  const isWanted = ({ state, reason }: Step) =>
    ['in sync', 'missing', 'drifted', 'conflict'].includes(state) || reason.endsWith('will be recreated');
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

/** What the companions of a source are to hold. */
function selectedData(of: ConfigMap | undefined): Readonly<Record<string, string>> {
  const { l: excluded, ...others } = of?.data ?? {};
  const excludes = of?.metadata.annotations?.['workshop.io/exclude-keys'] === 'l';
  return excludes || excluded === undefined ? others : { ...others, l: excluded };
}

/**
 * The companions that a source should have, and that nothing keeps it from having as it wants them.
 */
function companionsOf(ask: Ask, now: MirrorWorld, { world, rules }: RandomWorld): readonly ConfigMap[] {
  const wanted = wantedKeys(ask, world.namespaces, rules);
  return now.configMaps.filter((object) => {
    const key = keyOf(object);
    return wanted.has(key) && !object.metadata.deletionTimestamp && isOurs(object, ask);
  });
}

test('[M3] where a source has its way, its companion holds the selected keys, byte for byte', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      for (const ask of random.asks) {
        const data = selectedData(objectAt(random.world, ask.key));
        const after = carryOut(ask.key, random.world);
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

test('[R7] of the sources that ask for a free name, one gets it: the oldest, then by namespace and name', () => {
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
