import { describe, expect, test } from 'vitest';
import { MutationCache } from '../../../src/controller/write/mutation-cache.ts';
import {
  type ObservedConfigMap,
  observe,
  sourceReference,
} from '../../../src/mirror/observe/observed-config-map.ts';
import { vocabularyOf } from '../../../src/mirror/vocabulary.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const vocabulary = vocabularyOf('workshop.io');

function version(resourceVersion: string, uid = 'u1'): ObservedConfigMap {
  return observe({ metadata: { namespace: 'a', name: 'b', uid, resourceVersion } }, vocabulary);
}

function setUp() {
  const clock = new ManualClock();
  const cache = new MutationCache(clock, (object) => sourceReference(object, vocabulary));
  /** A change from the informer. */
  const seen = (item: ObservedConfigMap, deleted = false) =>
    cache.observe({ object: item, deleted }, () => undefined);
  return {
    clock,
    cache,
    wrote: (object: ObservedConfigMap) => cache.follow(object.key, async () => object),
    deleted: (object: ObservedConfigMap) => cache.followDelete(object, async () => undefined),
    seen,
  };
}

describe('[R2] a pass right after a write sees', () => {
  test('our own write while the informer has nothing or an older version', async () => {
    const { cache, wrote } = setUp();
    const written = version('10');
    await wrote(written);
    expect(cache.newest(written.key, undefined)).toBe(written);
    expect(cache.newest(written.key, version('9'))).toBe(written);
    const later = version('11');
    expect(cache.newest(written.key, later)).toBe(later);
  });

  test('nothing after our delete, but a new object of the same name', async () => {
    const { cache, deleted } = setUp();
    const old = version('9');
    await deleted(old);
    expect(cache.newest(old.key, old)).toBeUndefined();
    const successor = version('12', 'u2');
    expect(cache.newest(old.key, successor)).toBe(successor);
  });

  test("the informer's state once it has caught up, even if that is no object", async () => {
    const { cache, wrote, seen } = setUp();
    const written = version('10');
    await wrote(written);
    seen(written);
    expect(cache.newest(written.key, undefined)).toBeUndefined();
  });

  test('our write while the informer is still behind', async () => {
    const { cache, wrote, seen } = setUp();
    const written = version('10');
    await wrote(written);
    seen(version('9'));
    expect(cache.newest(written.key, version('9'))).toBe(written);
  });

  test('the state of the informer after 30 s in any case', async () => {
    const { clock, cache, wrote } = setUp();
    const written = version('10');
    await wrote(written);
    await clock.advance(30_000);
    expect(cache.newest(written.key, undefined)).toBeUndefined();
  });
});

describe('[R2] when the watch is faster than the reply to a write', () => {
  test('an object deleted before the reply came is not there', async () => {
    const { cache, seen } = setUp();
    const written = version('10');
    await cache.follow(written.key, async () => {
      seen(written);
      seen(written, true);
      return written;
    });
    expect(cache.newest(written.key, undefined)).toBeUndefined();
  });

  test('its successor is there', async () => {
    const { cache, seen } = setUp();
    const written = version('12', 'u2');
    await cache.follow(written.key, async () => {
      seen(version('9', 'u1'), true);
      return written;
    });
    expect(cache.newest(written.key, undefined)).toBe(written);
  });
});

describe('[R10] a deleted object that a finalizer holds', () => {
  test('is visible as soon as the informer shows it being deleted', async () => {
    const { cache, deleted, seen } = setUp();
    const old = version('9');
    await deleted(old);
    const held = version('10');
    seen(held);
    expect(cache.newest(old.key, held)).toBe(held);
  });

  test('stays hidden while the informer repeats the deleted state', async () => {
    const { cache, deleted, seen } = setUp();
    const old = version('9');
    await deleted(old);
    seen(old);
    expect(cache.newest(old.key, old)).toBeUndefined();
  });
});

test('[R1] a write that the informer never saw is reported when it expires, and forgotten', async () => {
  const { clock, cache, wrote } = setUp();
  const stop = new AbortController();
  const expired: ObservedConfigMap[] = [];
  const running = cache.run(stop.signal, (object) => expired.push(object));
  await clock.advance(10_000);
  const written = version('10');
  await wrote(written);
  await clock.advance(20_000);
  expect(expired).toEqual([]);
  await clock.advance(30_000);
  expect(expired).toEqual([written]);
  expect(cache.newest(written.key, undefined)).toBeUndefined();
  await clock.advance(30_000);
  expect(expired).toHaveLength(1);
  stop.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
});

test('[R4] our writes for a source are found by its key until the informer shows them', async () => {
  const { cache, seen } = setUp();
  const annotations = { 'workshop.io/source': 'a/source' };
  const metadata = { namespace: 'a', name: 'b', uid: 'u1', resourceVersion: '10', annotations };
  const written = observe({ metadata }, vocabulary);
  const [source = written.key] = [sourceReference(written, vocabulary)];
  await cache.follow(written.key, async () => written);
  expect(cache.writtenFor(source)).toEqual([written]);
  seen(written);
  expect(cache.writtenFor(source)).toEqual([]);
  await cache.follow(written.key, async () => {
    seen(written);
    return written;
  });
  expect(cache.writtenFor(source)).toEqual([]);
});

describe('whether an event is our own', () => {
  /** Whether the event is called our own; undefined while it is held back. */
  function attributed(cache: MutationCache, item: ObservedConfigMap, deleted = false) {
    const seen: { own: boolean | undefined } = { own: undefined };
    cache.observe({ object: item, deleted }, (own) => {
      seen.own = own;
    });
    return seen;
  }

  /** A write that waits for its answer. */
  function underWay(cache: MutationCache) {
    let reply: (result: ObservedConfigMap) => void = () => undefined;
    let fail: (error: Error) => void = () => undefined;
    const replied = new Promise<ObservedConfigMap>((resolve, reject) => {
      reply = resolve;
      fail = reject;
    });
    return { write: cache.follow(version('0').key, () => replied), reply, fail };
  }

  test('an event with exactly what we wrote is our own, a later one is not', async () => {
    const { cache, wrote } = setUp();
    await wrote(version('10'));
    expect([attributed(cache, version('10')).own, attributed(cache, version('11')).own]).toEqual([
      true,
      false,
    ]);
  });

  test('the delete of what we deleted is our own, that of another object of the name is not', async () => {
    const { cache, deleted } = setUp();
    await deleted(version('10'));
    expect(attributed(cache, version('11'), true).own).toBe(true);
    expect(attributed(cache, version('11', 'u2'), true).own).toBe(false);
  });

  test('the start of the deletion is our own if a finalizer holds what we deleted', async () => {
    const { cache, deleted } = setUp();
    await deleted(version('10'));
    const held = { ...version('11'), deleting: true };
    expect(attributed(cache, held).own).toBe(true);
    expect(attributed(cache, { ...held, resourceVersion: '12' }).own).toBe(false);
  });

  test('an event that comes before the reply is held back', async () => {
    const { cache } = setUp();
    const { write, reply } = underWay(cache);
    const own = attributed(cache, version('10'));
    const later = attributed(cache, version('11'));
    expect([own.own, later.own]).toEqual([undefined, undefined]);
    reply(version('10'));
    await write;
    expect([own.own, later.own]).toEqual([true, false]);
  });

  test('if the reply is lost, an event is not our own', async () => {
    const { cache } = setUp();
    const { write, fail } = underWay(cache);
    const event = attributed(cache, version('10'));
    fail(new Error('connection reset'));
    await expect(write).rejects.toThrow('connection reset');
    expect(event.own).toBe(false);
  });

  test('an event of an earlier write that comes during the next one is our own', async () => {
    const { cache, deleted } = setUp();
    const own: boolean[] = [];
    const comes = (item: ObservedConfigMap, isDelete: boolean) =>
      cache.observe({ object: item, deleted: isDelete }, (isOwn) => own.push(isOwn));
    const [old, created, patched] = [version('9'), version('12', 'u2'), version('13', 'u2')];
    await deleted(old);
    await cache.follow(old.key, async () => {
      comes(old, true);
      return created;
    });
    await cache.follow(old.key, async () => {
      comes(created, false);
      return patched;
    });
    expect(own).toEqual([true, true]);
  });

  test('[R13] an event with other content than we wrote, which a webhook has changed, is not', async () => {
    const { cache, wrote } = setUp();
    const written = version('10');
    await wrote(written);
    const own: boolean[] = [];
    const item = { ...written, digest: 'of other content' };
    cache.observe({ object: item, deleted: false }, (isOwn) => own.push(isOwn));
    expect(own).toEqual([false]);
  });

  test('an event of our delete that comes before its reply is our own', async () => {
    const { cache } = setUp();
    let reply: () => void = () => undefined;
    const replied = new Promise<void>((resolve) => {
      reply = resolve;
    });
    const write = cache.followDelete(version('10'), () => replied);
    const event = attributed(cache, version('12'), true);
    expect(event.own).toBeUndefined();
    reply();
    await write;
    expect(event.own).toBe(true);
  });
});

test.for([
  ['before', true],
  ['after', false],
])(
  '[R10] the end of what a finalizer held after our delete is not our own; seen %s the reply',
  async ([, isBefore]) => {
    const { cache } = setUp();
    const isMarked = () => cache.observe({ object: version('11'), deleted: false }, () => undefined);
    await cache.followDelete(version('10'), async () => {
      if (isBefore) isMarked();
    });
    if (!isBefore) isMarked();
    let isOwn: boolean | undefined;
    cache.observe({ object: version('12'), deleted: true }, (own) => {
      isOwn = own;
    });
    expect(isOwn).toBe(false);
  },
);

test('[R2] the delete of an earlier object of the name does not hide the one that we created since', async () => {
  const { cache, wrote, seen } = setUp();
  const made = version('12', 'u2');
  await wrote(made);
  seen(version('11', 'u1'), true);
  expect(cache.newest(made.key, undefined)).toBe(made);
});
