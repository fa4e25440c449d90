import type { ObjectKey } from '../../src/kube/api/object-key.ts';
import { type Entry, takeInventory } from '../../src/mirror/explain/inventory.ts';
import { absentSources, entryMeeting, isUnconfirmed } from '../../src/mirror/explain/live-reads.ts';
import { type ObservedConfigMap, observe } from '../../src/mirror/observe/observed-config-map.ts';
import { renderingOf } from './rendering-of.ts';
import { vocabulary } from './wire.ts';
import { objectAt, viewOf, type World } from './world.ts';

/** The inventory of a world, with live reads where `plan` and `status` make them. */
export function inventoryOf(of: World): readonly Entry[] {
  const view = viewOf(of);
  const seen = of.configMaps
    .map(({ metadata }) => view.configMap(`${metadata.namespace}/${metadata.name}` as ObjectKey))
    .filter((object) => object !== undefined);
  const read = (key: ObjectKey): ObservedConfigMap | undefined => {
    const object = objectAt(of, key);
    return object && observe(object, vocabulary);
  };
  const live = new Map([...absentSources(seen, view)].map((key) => [key, read(key)]));
  const renderings = new Map(
    seen.flatMap((source) => {
      const rendering = renderingOf(source, of.configMaps, view);
      return rendering === undefined ? [] : [[source.key, rendering] as const];
    }),
  );
  return takeInventory(seen, live, renderings, view).map((entry) =>
    entry.companion !== undefined && isUnconfirmed(entry)
      ? entryMeeting(entry, read(entry.companion), renderings, view)
      : entry,
  );
}

/** One line an entry, in the order of the keys. */
export function entriesInWords(entries: readonly Entry[]): readonly string[] {
  return entries
    .map(
      ({ source, companion, action, state, reason }) =>
        `${source} → ${companion}: ${state}, ${action}; ${reason}`,
    )
    .sort();
}
