import { expect, test } from 'vitest';
import { Namespaces } from '../../../src/controller/events/namespaces.ts';

/** Everything is listed at once. */
function listed(): Namespaces {
  return new Namespaces({
    lister: { get: () => undefined, values: () => [].values(), byIndex: () => [], size: 0 },
    addHandler: () => undefined,
    run: async () => undefined,
    isSynced: () => true,
    isComplete: () => true,
    whenSynced: async () => undefined,
    failures: () => 0,
    heardAt: () => undefined,
    silentMs: () => 0,
  });
}

test('[C4] the list is awaited until all that depends on it is queued, so that --once does not end before', async () => {
  const namespaces = listed();
  expect(namespaces.isPending()).toBe(false);
  namespaces.demand();
  expect(namespaces.isPending()).toBe(true);
  const answers: (() => void)[] = [];
  const running = namespaces.run(
    new AbortController().signal,
    () => new Promise((resolve) => answers.push(resolve)),
  );
  await new Promise(setImmediate);
  expect(namespaces.isPending()).toBe(true);
  answers[0]?.();
  await running;
  expect(namespaces.isPending()).toBe(false);
});
