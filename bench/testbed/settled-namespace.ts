import type { Observer } from './observer.ts';
import { source } from './sources.ts';
import type { Testbed } from './testbed.ts';

/**
 * Starts the controller over a new namespace with these sources, and waits until it has nothing
 * left to do. Resolves to an observer of the namespace with bodies, which the caller disposes of.
 */
export async function settledNamespace(
  testbed: Testbed,
  namespace: string,
  sources: readonly string[],
): Promise<Observer> {
  await testbed.createNamespaces([namespace]);
  await testbed.load.createAll(sources.map((name) => source(namespace, name)));
  const observer = await testbed.observe({ namespace, data: true });
  const complete = observer.collect(sources.length, () => true);
  await testbed.start();
  await complete;
  await testbed.settle();
  return observer;
}
