import { expect, test } from 'vitest';
import { keyOf, type ObjectKey } from '../../../src/kube/api/object-key.ts';
import type { ConfigMap, ObjectMeta } from '../../../src/kube/api/types.ts';
import { companion, source } from '../../mirror/wire.ts';
import { viewOf, world } from '../../mirror/world.ts';
import { Executor } from '../executor.ts';
import { MemoryApi } from '../memory-api.ts';

const KEY = 'home/colors' as ObjectKey;
const BESIDE = 'home/colors-synced' as ObjectKey;
const LABEL = 'app.kubernetes.io/managed-by';

/** A server whose admission policy gives a label of its own to whatever we write. */
class LabellingApi extends MemoryApi {
  override create(...[body]: Parameters<MemoryApi['create']>): Promise<ObjectMeta> {
    return this.#labelled(keyOf(body), super.create(body));
  }

  override patch(...[key, patch]: Parameters<MemoryApi['patch']>): Promise<ObjectMeta> {
    return this.#labelled(key, super.patch(key, patch));
  }

  async #labelled(key: ObjectKey, written: Promise<ObjectMeta>): Promise<ObjectMeta> {
    const answer = await written;
    const metadata = { ...answer, labels: { ...answer.labels, [LABEL]: 'platform' } };
    this.objects.set(key, { ...this.objects.get(key), metadata });
    return metadata;
  }
}

function setUp(objects: readonly ConfigMap[]) {
  const api = new LabellingApi(objects);
  const now = () => viewOf(world([...api.objects.values()]));
  const view = now();
  return { api, running: new Executor(api, view), see: () => void Object.assign(view, now()) };
}

test('[D4] [R13] a revision that a policy alters is kept all the same, and companions follow', async () => {
  const { api, running, see } = setUp([source(KEY, { 'keep-revisions': '3' })]);
  await running.pass(KEY);
  see();
  expect(running.queue.length).toBe(1);
  await running.pass(KEY);
  expect(api.objects.get(BESIDE)?.data).toEqual({ colour: 'red' });
});

test('[R13] [R14] a fight over content is slowed down also where a policy alters each heal', async () => {
  const { api, running, see } = setUp([source(KEY), companion(source(KEY), BESIDE)]);
  let heals = 0;
  for (let edit = 0; edit < 40; edit++) {
    const { metadata } = await api.get(BESIDE);
    const resourceVersion = `${Number(metadata.resourceVersion) + 1000}`;
    api.objects.set(BESIDE, { metadata: { ...metadata, resourceVersion }, data: { colour: 'blue' } });
    running.memory.disturbed(KEY, BESIDE);
    see();
    await running.pass(KEY);
    if (api.objects.get(BESIDE)?.data?.['colour'] === 'red') heals += 1;
  }
  expect(heals).toBeLessThan(10);
});
