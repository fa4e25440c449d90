import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import { COMPANION_STATES, type Entry } from '../../../src/mirror/explain/inventory.ts';
import { companionsLeft, planOrphans } from '../../../src/mirror/plan/orphans.ts';
import type { Step } from '../../../src/mirror/plan/step.ts';
import { carryOut } from '../../controller/carry-out.ts';
import { entriesInWords, inventoryOf } from '../inventory-of.ts';
import { randomWorld } from '../random-world.ts';
import { companion, configMap, namespace, observed, source, stripped } from '../wire.ts';
import { boundsOf, isWrite, objectAt, planFor, viewOf, type World, world } from '../world.ts';

const inWords = (of: World) => entriesInWords(inventoryOf(of));

const colors = source('home/colors', { 'target-namespaces': 'team-a' });
const namespaces = [namespace('home'), namespace('team-a')];
const withTeam = (...objects: readonly ConfigMap[]) => world([colors, ...objects], namespaces);

describe('[C3] every companion is in exactly one state', () => {
  const at = 'team-a/colors-synced';
  const settled = companion(colors, at);
  const line = (rest: string) => [`home/colors → ${at}: ${rest}`];

  test('in sync', () => {
    expect(inWords(withTeam(settled))).toEqual(line('in sync, none; '));
  });

  test('also of a source that somebody has annotated like a revision', () => {
    const odd = source('home/odd', { revision: '3' });
    expect(inWords(world([odd, companion(odd, 'home/odd-synced')]))).toEqual([
      'home/odd → home/odd-synced: in sync, none; ',
    ]);
  });

  test('drifted', () => {
    const edited = { ...settled, data: { colour: 'green' } };
    expect(inWords(withTeam(edited))).toEqual(line('drifted, update; differs in content'));
    expect(inWords(withTeam({ ...edited, immutable: true }))).toEqual(
      line('drifted, replace; differs in content'),
    );
  });

  test('drifted, although the watch does not show it: it has lost its label', () => {
    const unlabelled = stripped(settled, 'workshop.io/managed');
    expect(inWords(withTeam(unlabelled))).toEqual(
      line('drifted, update; differs in label workshop.io/managed'),
    );
  });

  test('missing', () => {
    expect(inWords(withTeam())).toEqual(line('missing, create; it did not exist'));
    expect(inWords(world([colors], [namespace('home')]))).toEqual(
      line('missing, none; namespace team-a does not exist'),
    );
  });

  test('conflict, with an object that the watch shows or does not show', () => {
    const reason = 'a ConfigMap with this name exists and is not managed by mirror-controller';
    expect(inWords(withTeam(configMap(at)))).toEqual(line(`conflict, none; ${reason}`));
    const labelled = configMap(at, { labels: { 'workshop.io/managed': 'companion' } });
    expect(inWords(withTeam(labelled))).toEqual(line(`conflict, none; ${reason}`));
  });

  test('conflict, with a source that comes first; nothing is done about it', () => {
    const first = source(
      'first/colors',
      { 'target-namespaces': 'team-a' },
      { createdAt: '2025-01-01T00:00:00Z' },
    );
    expect(inWords(withTeam(first))).toContain(
      `home/colors → ${at}: conflict, none; source first/colors wants the same name and comes first`,
    );
  });

  test('refused', () => {
    const refusing = [namespace('home'), namespace('team-a', { accepts: '' })];
    expect(inWords(world([colors], refusing))).toEqual(
      line("refused, none; the namespace's accept-mirrors-from does not accept home"),
    );
  });

  test('refused, because the source is not ours to watch', () => {
    const bounds = boundsOf({ namespaces: ['team-a'] });
    expect(inWords(world([colors, settled], namespaces, bounds))).toEqual(
      line("refused, none; its source's namespace is not among --namespaces"),
    );
  });

  test('invalid, with the companions that it has or without any', () => {
    const bad = source('home/colors', { 'target-namespaces': 'team-a', 'deletion-policy': 'keep' });
    const reason = 'workshop.io/deletion-policy: "keep": write "delete" or "retain"';
    expect(inWords(world([bad, settled], namespaces))).toEqual(line(`invalid, none; ${reason}`));
    expect(inWords(world([bad], namespaces))).toEqual([`home/colors → undefined: invalid, none; ${reason}`]);
  });

  test('retained, to be marked or marked already', () => {
    const policy = { 'workshop.io/deletion-policy': 'retain' };
    const narrowed = source('home/colors', { 'target-namespaces': 'home', 'deletion-policy': 'retain' });
    const beside = companion(narrowed, 'home/colors-synced', { annotations: policy, owners: [] });
    const of = (kept: ConfigMap) => inWords(world([narrowed, beside, kept], namespaces))[1];
    expect(of(settled)).toBe(
      `home/colors → ${at}: retained, update; the source no longer targets the namespace; marking it as retained`,
    );
    expect(of(companion(colors, at, { annotations: policy }))).toBe(
      `home/colors → ${at}: retained, none; the source no longer targets the namespace; its policy is retain`,
    );
  });

  test('waiting', () => {
    expect(inWords(withTeam({ ...companion(colors, at, { deleting: true }) }))).toEqual(
      line('waiting, none; the companion is being deleted, and will be recreated'),
    );
    const leaving = source('home/colors', { 'target-namespaces': 'team-a' }, { deleting: true });
    expect(inWords(world([leaving, settled], namespaces))).toEqual(
      line('waiting, none; the source is being deleted'),
    );
  });

  test('orphaned: its source is gone, or unlabelled', () => {
    expect(inWords(world([settled], namespaces))).toEqual(line('orphaned, delete; the source is gone'));
    expect(inWords(world([stripped(colors, 'workshop.io/managed'), settled], namespaces))).toEqual(
      line('orphaned, delete; the source is no longer labelled'),
    );
  });

  test("orphaned: nobody's, and left alone", () => {
    const labels = { 'workshop.io/managed': 'companion' };
    expect(inWords(withTeam(settled, configMap('team-a/x', { labels })))).toContain(
      'undefined → team-a/x: orphaned, none; it names no source',
    );
    const copy = companion(colors, 'team-a/copy', { annotations: { 'workshop.io/companion': at } });
    expect(inWords(withTeam(settled, copy))).toContain(
      `home/colors → team-a/copy: orphaned, none; it is a copy of ${at}`,
    );
  });
});

const RUNS = { numRuns: 300 };

/** Those that the watch shows, and that are no sources. */
const managed = ({ configMaps }: World) =>
  configMaps.filter(({ metadata }) => metadata.labels?.['workshop.io/managed'] === 'companion');

test('[C3] the inventory of any world has each companion, and no pair of names twice', () => {
  fc.assert(
    fc.property(randomWorld, (random) => {
      const entries = inventoryOf(random.world);
      const pairs = entries.map(({ source: from, companion: to }) => `${from} ${to}`);
      expect(new Set(pairs).size).toBe(pairs.length);
      const listed = new Set<string | undefined>(entries.map((entry) => entry.companion));
      for (const { metadata } of managed(random.world)) {
        expect(listed).toContain(`${metadata.namespace}/${metadata.name}`);
      }
      for (const { state } of entries) expect(COMPANION_STATES).toContain(state);
    }),
    RUNS,
  );
});

/** As the reconciler plans: whatever companions are left of an absent source. */
function plannedFor(name: string, of: World): readonly Step[] {
  const view = viewOf(of);
  const key = name as ObjectKey;
  if (view.configMap(key)?.request !== undefined) return planFor(name, of);
  const live = objectAt(of, name);
  return companionsLeft(key, view).length === 0 ? [] : planOrphans(key, live && observed(live), view);
}

test('[C2] on what the watch shows, the inventory of any world has exactly the writes of its plans', () => {
  fc.assert(
    fc.property(randomWorld, ({ world: of, asks }) => {
      const references = of.configMaps.flatMap(
        (object) => object.metadata.annotations?.['workshop.io/source'] ?? [],
      );
      const view = viewOf(of);
      const isShown = ({ companion: at }: Pick<Entry, 'companion'>) => at && view.configMap(at) !== undefined;
      const planned = [...new Set([...asks.map(({ key }) => key), ...references])].flatMap((key) =>
        plannedFor(key, of)
          .filter((step) => isWrite(step) && isShown(step))
          .map(({ action, companion: at }) => `${key}: ${action} ${at}`),
      );
      const listed = inventoryOf(of)
        .filter((entry) => entry.action !== 'none' && isShown(entry))
        .map(({ source: from, action, companion: at }) => `${from}: ${action} ${at}`);
      expect(listed.sort()).toEqual(planned.sort());
    }),
    RUNS,
  );
});

test('[C2] when what it says has been carried out, the inventory of any world has nothing more to do', async () => {
  await fc.assert(
    fc.asyncProperty(randomWorld, async (random) => {
      let now = random.world;
      // A deleted companion frees a name for another source, and a heal returns one to its source.
      for (let round = 0; round < 4; round += 1) {
        const due = inventoryOf(now).filter(({ action }) => action !== 'none');
        if (due.length === 0) return;
        for (const key of new Set(due.map((entry) => String(entry.source)))) now = await carryOut(key, now);
      }
      expect(inventoryOf(now).filter(({ action }) => action !== 'none')).toEqual([]);
    }),
    RUNS,
  );
});
