import type { ObjectKey } from '../../src/kube/api/object-key.ts';
import { viewOf, type World } from '../mirror/world.ts';
import { Executor } from './executor.ts';
import { MemoryApi } from './memory-api.ts';

/** The world after one pass of the real reconciler and writer over a source key. */
export async function carryOut(key: string, of: World): Promise<World> {
  const api = new MemoryApi(of.configMaps, lastVersion(of));
  await new Executor(api, viewOf(of)).pass(key as ObjectKey);
  return { ...of, configMaps: [...api.objects.values()] };
}

function lastVersion({ configMaps }: World): number {
  return Math.max(100, ...configMaps.map(({ metadata }) => Number(metadata.resourceVersion) || 0));
}
