import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ObjectMeta } from '../../../src/kube/api/types.ts';
import type { Command } from '../../../src/mirror/explain/remedies.ts';
import { inventoryOf } from '../inventory-of.ts';
import { randomWorld } from '../random-world.ts';
import { namespace } from '../wire.ts';
import type { World } from '../world.ts';
import { explain } from './ask.ts';

/** The cluster once somebody has pasted the command. */
function carriedOut(command: Command, of: World): World {
  if (command.verb === 'create') return { ...of, namespaces: [...of.namespaces, namespace(command.name)] };
  const field = command.verb === 'label' ? 'labels' : 'annotations';
  const changed = <T extends { readonly metadata: ObjectMeta }>(object: T): T => {
    const { metadata } = object;
    if (metadata.name !== command.name || metadata.namespace !== command.namespace) return object;
    const { [command.key]: _, ...others } = metadata[field] ?? {};
    const entries = command.value === undefined ? others : { ...others, [command.key]: command.value };
    return { ...object, metadata: { ...metadata, [field]: entries } };
  };
  return command.kind === 'namespace'
    ? { ...of, namespaces: of.namespaces.map(changed) }
    : { ...of, configMaps: of.configMaps.map(changed) };
}

/** Which companions come, stay and go, except in one namespace. */
function fates(of: World, except: string): readonly string[] {
  return inventoryOf(of)
    .filter(({ companion: key }) => key !== undefined && !key.startsWith(`${except}/`))
    .map(({ source: key, companion: at, action }) => {
      return `${key} → ${at}: ${action === 'create' || action === 'delete' ? action : 'stays'}`;
    })
    .sort();
}

function deletedIn(name: string, of: World): readonly string[] {
  return inventoryOf(of)
    .filter(({ companion: key, action }) => action === 'delete' && key?.startsWith(`${name}/`))
    .map(({ companion: key }) => `${key}`);
}

/** Whether the namespace says whose companions it accepts. */
function saysConsent(of: World, name: string): boolean {
  const found = of.namespaces.find(({ metadata }) => metadata.name === name);
  return found?.metadata.annotations?.[CONSENT] !== undefined;
}

const items = fc.constantFrom(
  ...['a', 'b', 'ab', 'team', 'a*', 'te*', '*', '!a', '! ab', '!team', '!a*', '!te*'],
  ...['Team', 'A', '!B', '!Team', '.*', 'a_b', '!a_b', '!a*b'],
);
const lists = fc.option(
  fc.array(items, { minLength: 1, maxLength: 4 }).map((all) => all.join(', ')),
  { nil: undefined },
);

/** Of a source and a namespace: lists that are often malformed. */
const asked = fc
  .record({
    drawn: randomWorld,
    anyAsk: fc.nat(),
    anyName: fc.nat(),
    targets: lists,
    accepts: lists,
    requireConsent: fc.boolean(),
  })
  .map(({ drawn: { world, asks }, anyAsk, anyName, targets = '', accepts = '', requireConsent }) => {
    const key = asks[anyAsk % asks.length]?.key ?? '';
    const spaces = world.namespaces.map(({ metadata }) => metadata.name);
    const name = [...spaces, 'new'][anyName % (spaces.length + 1)] ?? '';
    const [own = '', sourceName = ''] = key.split('/');
    const annotate = { verb: 'annotate', kind: 'configmap', namespace: own, name: sourceName } as const;
    const consent = { verb: 'annotate', kind: 'namespace', name, key: CONSENT, value: accepts } as const;
    const asking = targets === '' ? world : carriedOut({ ...annotate, key: TARGETS, value: targets }, world);
    const accepting = accepts === '' ? asking : carriedOut(consent, asking);
    const of = { ...accepting, bounds: { ...accepting.bounds, requireConsent } };
    return { of, key, name, targets, isPossible: spaces.includes(own) };
  })
  .filter(({ isPossible }) => isPossible);

const TARGETS = 'workshop.io/target-namespaces';
const CONSENT = 'workshop.io/accept-mirrors-from';

const exclusionsIn = (list = '') =>
  list
    .toLowerCase()
    .split(',')
    .map((item) => item.replaceAll(' ', ''))
    .filter((item) => item.startsWith('!'));

test('[C8] a command of explain reaches its goal, and says what it changes elsewhere', () => {
  const checks = new Set<string>();
  fc.assert(
    fc.property(asked, ({ of, key, name, targets }) => {
      const before = explain(key, name, of).at(-1);
      if (!(before?.fails && 'command' in before.fails)) return;
      checks.add(before.check);
      const { command, caution } = before.fails;
      const then = carriedOut(command, of);
      const after = explain(key, name, then).at(-1);
      expect(after).not.toEqual(before);
      if (command.verb === 'annotate' && command.key === TARGETS) {
        expect(after?.evidence).not.toMatch(/ in target-namespaces excludes|^nothing in the target/);
        const others = exclusionsIn(targets).filter((item) => item !== `!${name}`);
        expect(exclusionsIn(command.value)).toEqual(expect.arrayContaining(others));
      }
      if (command.kind === 'namespace' && command.verb === 'annotate' && !saysConsent(of, name)) {
        const lenient = (each: World) => ({ ...each, bounds: { ...each.bounds, requireConsent: false } });
        expect(deletedIn(name, lenient(then))).toEqual(deletedIn(name, lenient(of)));
      }
      if (caution === undefined) expect(fates(then, name)).toEqual(fates(of, name));
    }),
    { numRuns: 3000 },
  );
  expect([...checks].sort()).toEqual(['annotations', 'consent', 'label', 'name', 'namespace', 'target']);
});
