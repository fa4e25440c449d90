import { expect, test } from 'vitest';
import { DryRunPlanner } from '../../../src/controller/reconcile/dry-run-planner.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import { desiredOf } from '../../../src/mirror/plan/desired.ts';
import { planSource } from '../../../src/mirror/plan/plan.ts';
import { configMap, namespace, observed, source } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { MemoryApi } from '../memory-api.ts';

const KEY = 'home/colors' as ObjectKey;

test('[R9] [C4] a dry run meets what has a name, and plans on where it may not read', async () => {
  const teams = ['team-a', 'team-b', 'team-c'];
  const of = observed(source(KEY, { 'target-namespaces': 'team-*' }));
  const view = viewOf(
    world(
      [source(KEY, { 'target-namespaces': 'team-*' })],
      teams.map((name) => namespace(name)),
    ),
  );
  const api = new MemoryApi([configMap('team-a/colors-synced')]);
  const get = async (key: ObjectKey) => {
    if (key.startsWith('team-b/')) throw new ApiError('forbidden', { status: 403, reason: 'Forbidden' });
    return api.get(key);
  };
  if (!of.request?.ok) throw new Error('it is valid');
  const { shape, rollout } = desiredOf(of, of.request.value, undefined, view);
  const planner = { plan: async () => ({ source: of, shape, steps: planSource(shape, view), rollout }) };
  const plan = await new DryRunPlanner({ planner, api: { get }, view }).plan(KEY);
  expect(plan?.steps.map(({ companion, action, state }) => [companion, action, state])).toEqual([
    ['team-a/colors-synced', 'none', 'conflict'],
    ['team-b/colors-synced', 'create', 'missing'],
    ['team-c/colors-synced', 'create', 'missing'],
  ]);
});
