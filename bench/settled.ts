import type { Observer } from './observer.ts';
import { DOMAIN, sourceIn } from './sources.ts';
import type { World } from './world.ts';

/**
 * A namespace with these sources and their companions, and a controller that has nothing left to do. Resolves to an
 * observer of the namespace, bodies too, which the caller disposes of. By default it is the subject of the world.
 */
export async function settledNamespace(
  world: World,
  namespace: string,
  sources: readonly string[],
  controller: { readonly domain: string; readonly start: () => Promise<unknown> } = {
    domain: DOMAIN,
    start: () => world.start(),
  },
): Promise<Observer> {
  const { domain, start } = controller;
  await world.createNamespaces([namespace]);
  await world.load.createAll(sources.map((name) => sourceIn(domain, namespace, name)));
  const observer = await world.observe({ namespace, data: true, domain });
  const complete = observer.collect(sources.length, () => true);
  await start();
  await complete;
  await world.settle();
  return observer;
}
