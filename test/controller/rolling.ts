import { expect } from 'vitest';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import type { StringMap } from '../../src/mirror/vocabulary.ts';
import { waitFor } from '../support/wait-for.ts';
import { checksum } from './expected-companion.ts';
import type { World } from './world.ts';

// What tests say of `home/colors`, its contents and its revisions.

export const RED = { sky: 'red' };
export const GREEN = { sky: 'green' };
export const BLUE = { sky: 'blue' };

export function shortOf(data: StringMap): string {
  return checksum(data, {}).slice(0, 8);
}

/** The short key of the revision of a content. */
export function revisionOf(data: StringMap): string {
  return `home/colors-rev-${shortOf(data)}`;
}

export async function edit(world: World, data: StringMap): Promise<void> {
  await world.person.edit(world.full('home/colors'), (source) => ({ ...source, data }));
}

/** Short keys of the revisions in `home`, by their order. */
async function revisionsIn(world: World): Promise<readonly string[]> {
  const all = await world.person.configMaps(world.full('home'), `${world.domain}/managed=revision`);
  const order = ({ metadata }: ConfigMap) => Number(metadata.annotations?.[`${world.domain}/revision`]);
  return all.toSorted((a, b) => order(a) - order(b)).map(({ metadata }) => `home/${metadata.name}`);
}

/** Waits until these contents are kept and no others; the oldest first. */
export async function keeps(world: World, ...contents: readonly StringMap[]): Promise<void> {
  await waitFor(async () => expect(await revisionsIn(world)).toEqual(contents.map(revisionOf)), {
    deadlineMs: 60_000,
    describe: () => `these revisions; ${world.whatWasLogged()}`,
  });
}

/** Waits until the companions of `home/colors` hold these contents, by their namespaces. */
export async function hold(world: World, contents: Readonly<Record<string, StringMap>>): Promise<void> {
  for (const [namespace, data] of Object.entries(contents)) {
    await world.companion(`${namespace}/colors-synced`, 'home/colors', { data });
  }
}
