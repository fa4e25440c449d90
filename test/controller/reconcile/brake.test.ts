import { expect, test } from 'vitest';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap } from '../../../src/kube/api/types.ts';
import type { Brake, ClusterView } from '../../../src/mirror/plan/view.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { companion, namespace, source } from '../../mirror/wire.ts';
import { viewOf, type World, world } from '../../mirror/world.ts';
import { Executor } from '../executor.ts';
import { MemoryApi } from '../memory-api.ts';

const TEN: Brake = { count: 10, percent: 30 };
const TEAMS = Array.from({ length: 20 }, (_, number) => `team-${number}`);
const NAMESPACES = ['home', ...TEAMS].map((name) => namespace(name));

/** A source that nobody's companions match any more, and its companions in the first teams. */
function narrowed(name: string, count: number, asks: StringMap = {}): readonly ConfigMap[] {
  const of = source(`home/${name}`, { 'target-namespaces': 'taem-*', ...asks });
  return [of, ...TEAMS.slice(0, count).map((team) => companion(of, `${team}/${name}-synced`))];
}

/** The controller sees what the API holds now. `changed`: what else is different in its view. */
function setUp(objects: readonly ConfigMap[], changed: Partial<ClusterView> = {}) {
  const api = new MemoryApi(objects);
  const now = (): World => ({ ...world([...api.objects.values()], NAMESPACES), brake: TEN });
  const view = Object.assign(viewOf(now()), changed);
  const running = new Executor(api, view);
  const see = () => void Object.assign(view, viewOf(now()), changed);
  return { api, running, see };
}

test('[D1] plans that are made at once count the deletions of each other, whatever the last search found', async () => {
  const found = { counted: new Set<string>(), total: 18, isHeld: false };
  const { api, running } = setUp([...narrowed('s', 9), ...narrowed('t', 9)], { dueFrom: () => found });
  const passes = ['home/s', 'home/t'].map((key) => running.reconciler.reconcile(key as ObjectKey));
  await running.carryOut();
  await Promise.all(passes);
  const left = [...api.objects.keys()].filter((key) => key.startsWith('team-'));
  expect(left).toHaveLength(9);
});

test('[D1] [D3] what became unwanted together is due together, so the brake sees all of it', async () => {
  const { api, running } = setUp(narrowed('s', 12, { 'delete-after': '10m' }));
  let now = 0;
  running.clock.now = () => {
    now += 1;
    return now;
  };
  await running.pass('home/s' as ObjectKey);
  // The first is due as soon as this, the last a moment later.
  const begunAt = now;
  for (let ms = -50; ms <= 50; ms += 5) {
    running.clock.now = () => begunAt + 600_000 + ms;
    await running.pass('home/s' as ObjectKey);
  }
  const left = [...api.objects.values()].filter(({ metadata }) => metadata.namespace !== 'home');
  expect(left.map(({ metadata }) => metadata.annotations?.['workshop.io/held'])).toEqual(
    Array(12).fill(expect.any(String)),
  );
});
