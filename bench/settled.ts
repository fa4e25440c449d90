import type { Observer } from './observer.ts';
import { source } from './sources.ts';
import type { World } from './world.ts';

/**
 * A namespace with these sources and their companions, and a controller that has nothing left to do. Resolves to an
 * observer of the namespace, bodies too, which the caller disposes of.
 */
export async function settledNamespace(
  world: World,
  namespace: string,
  sources: readonly string[],
): Promise<Observer> {
  await world.createNamespaces([namespace]);
  await world.load.createAll(sources.map((name) => source(namespace, name)));
  const observer = await world.observe({ namespace, data: true });
  const complete = observer.collect(sources.length, () => true);
  await world.start();
  await complete;
  await world.settle();
  return observer;
}
