import { expect, test } from 'vitest';
import { emitToAll, type Happening } from '../../../src/controller/memory/happening.ts';
import type { ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap, Namespace } from '../../../src/kube/api/types.ts';
import { ApiError } from '../../../src/kube/errors.ts';
import { RecordedLog } from '../../informer/recorded-log.ts';
import { companion, namespace, source } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { Executor } from '../executor.ts';
import { MemoryApi } from '../memory-api.ts';

const KEY = 'home/colors' as ObjectKey;
const BESIDE = 'home/colors-synced' as ObjectKey;

function executorOf(objects: readonly ConfigMap[], namespaces: readonly Namespace[] = [namespace('home')]) {
  const api = new MemoryApi(objects);
  return { api, executor: new Executor(api, viewOf(world(objects, namespaces))) };
}

const reconciled = (happenings: readonly Happening[]) =>
  happenings.filter((happening) => happening.type === 'reconciled');

test('listeners hear of each write, and of the pass when the last one has ended', async () => {
  const { executor } = executorOf([source(KEY)]);
  await executor.pass(KEY);
  expect(executor.happenings).toEqual([
    expect.objectContaining({ type: 'written', companion: BESIDE, action: 'create', result: 'ok' }),
    expect.objectContaining({ type: 'reconciled', companions: { 'in sync': 1 }, inSync: true }),
  ]);
  expect(executor.happenings[0]).toMatchObject({ object: { key: KEY }, heal: undefined });
});

test('listeners hear of a pass that has nothing to write', async () => {
  const { executor } = executorOf([source(KEY), companion(source(KEY), BESIDE)]);
  await executor.pass(KEY);
  expect(executor.happenings).toEqual([
    expect.objectContaining({ type: 'reconciled', result: 'ok', companions: { 'in sync': 1 } }),
  ]);
});

test('listeners hear whose edit a heal undoes', async () => {
  const edited = companion(source(KEY), BESIDE, { data: { sky: 'green' } });
  const managedFields = [{ manager: 'kubectl-edit', time: '2026-01-02T03:04:05Z' }];
  const { executor } = executorOf([
    source(KEY),
    { ...edited, metadata: { ...edited.metadata, managedFields } },
  ]);
  executor.memory.disturbed(KEY, BESIDE);
  await executor.pass(KEY);
  expect(executor.happenings[0]).toMatchObject({ action: 'update', heal: { editedBy: 'kubectl-edit' } });
});

test('listeners hear when a problem begins and when it is resolved, and that the source is not in sync', async () => {
  const { api, executor } = executorOf([source(KEY)]);
  api.beforeWrite = async () => {
    throw new ApiError('not allowed', { status: 403, reason: 'Forbidden' });
  };
  await executor.pass(KEY);
  api.beforeWrite = async () => undefined;
  await executor.clock.advance(60_000);
  await executor.pass(KEY);
  const problem = { type: 'problem', kind: 'write failed', source: KEY, subject: BESIDE };
  expect(executor.happenings).toMatchObject([
    { type: 'written', result: 'failed' },
    { ...problem, state: 'began', reason: '403 Forbidden: not allowed' },
    { type: 'reconciled', result: 'failed', companions: { missing: 1 }, inSync: false },
    { type: 'written', result: 'ok' },
    { ...problem, state: 'resolved' },
    { type: 'reconciled', result: 'ok', inSync: true },
  ]);
});

test('a source that is invalid, or names a missing namespace, is not in sync', async () => {
  const invalid = executorOf([source(KEY, { 'target-namespaces': '' })]).executor;
  await invalid.pass(KEY);
  expect(reconciled(invalid.happenings)).toMatchObject([
    { result: 'invalid', companions: {}, inSync: false },
  ]);
  const missing = executorOf([source(KEY, { 'target-namespaces': 'gone, team-*' })], [namespace('team-a')]);
  await missing.executor.pass(KEY);
  const companions = { 'in sync': 1, 'no namespace': 1 };
  expect(reconciled(missing.executor.happenings)).toMatchObject([
    { result: 'ok', companions, inSync: false },
  ]);
});

test('a name that an unlabelled object has is a conflict, also while the next attempt waits', async () => {
  const { labels: _, annotations: __, ...metadata } = companion(source(KEY), BESIDE).metadata;
  const { executor } = executorOf([source(KEY), { metadata: { ...metadata, ownerReferences: [] } }]);
  await executor.pass(KEY);
  await executor.pass(KEY);
  const conflict = { result: 'ok', companions: { conflict: 1 }, inSync: false };
  expect(reconciled(executor.happenings)).toMatchObject([conflict, conflict]);
  expect(executor.happenings.filter(({ type }) => type === 'written')).toMatchObject([{ result: 'failed' }]);
});

test('a namespace that only a pattern matches may refuse, and the source is in sync', async () => {
  const { executor } = executorOf(
    [source(KEY, { 'target-namespaces': 'team-*' })],
    [namespace('team-a'), namespace('team-b', { accepts: '' })],
  );
  await executor.pass(KEY);
  const companions = { 'in sync': 1, refused: 1 };
  expect(reconciled(executor.happenings)).toMatchObject([{ companions, inSync: true }]);
});

test('a listener that throws is logged, and the others hear what happened', () => {
  const [log, heard] = [new RecordedLog(), [] as Happening[]];
  const broken = () => {
    throw new Error('out of order');
  };
  const emit = emitToAll([broken, (happening) => void heard.push(happening)], log);
  const happening: Happening = { type: 'noticed', source: KEY, cause: 'edit' };
  emit(happening);
  expect(heard).toEqual([happening]);
  expect(log.lines).toMatchObject([{ level: 'error', message: 'a listener failed', happening: 'noticed' }]);
});
