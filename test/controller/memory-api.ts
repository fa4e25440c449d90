import { isDeepStrictEqual } from 'node:util';
import { applyPatch } from 'rfc6902';
import type { ConfigMapApi } from '../../src/kube/api/config-maps.ts';
import { keyOf, type ObjectKey } from '../../src/kube/api/object-key.ts';
import type { ConfigMap, JsonPatch, ObjectMeta } from '../../src/kube/api/types.ts';
import { ApiError } from '../../src/kube/errors.ts';

/** ConfigMaps in memory, with the answers of an API server that the writer depends on: 404, 409, 422, and versions. */
export class MemoryApi implements ConfigMapApi {
  readonly objects = new Map<ObjectKey, ConfigMap>();
  /** Called before each write; throws, or never resolves, to make it fail or hang. */
  beforeWrite: (key: ObjectKey) => Promise<void> = async () => undefined;
  #version: number;

  constructor(objects: readonly ConfigMap[] = [], version = 100) {
    for (const object of objects) this.objects.set(keyOf(object), object);
    this.#version = version;
  }

  async get(key: ObjectKey): Promise<ConfigMap> {
    const object = this.objects.get(key);
    if (object === undefined) throw new ApiError(`${key} not found`, { status: 404, reason: 'NotFound' });
    return object;
  }

  async create(body: Parameters<ConfigMapApi['create']>[0]): Promise<ObjectMeta> {
    const key = keyOf(body);
    await this.beforeWrite(key);
    if (this.objects.has(key)) throw new ApiError('it exists', { status: 409, reason: 'AlreadyExists' });
    const uid = `new uid of ${key}`;
    return this.#store({ ...body, metadata: { ...body.metadata, uid, resourceVersion: '' } });
  }

  async patch(key: ObjectKey, patch: JsonPatch): Promise<ObjectMeta> {
    await this.beforeWrite(key);
    return this.#store(patched(await this.get(key), patch));
  }

  async delete(
    key: ObjectKey,
    { resourceVersion }: { readonly uid: string; readonly resourceVersion: string },
  ): Promise<void> {
    await this.beforeWrite(key);
    const live = await this.get(key);
    checkVersion(live, resourceVersion);
    if (!live.metadata.finalizers?.length) this.objects.delete(key);
    else this.#store({ ...live, metadata: { ...live.metadata, deletionTimestamp: '2026-01-03T00:00:00Z' } });
  }

  #store(object: ConfigMap): ObjectMeta {
    this.#version += 1;
    const metadata = { ...object.metadata, resourceVersion: `${this.#version}` };
    const stored = withoutEmptyMaps({ ...object, metadata });
    this.objects.set(keyOf(stored), stored);
    return stored.metadata;
  }
}

/** The object after a JSON patch. Throws the API server's refusals. */
export function patched(live: ConfigMap, patch: JsonPatch): ConfigMap {
  const next = structuredClone(live);
  const [error] = applyPatch(next, structuredClone([...patch])).filter((answer) => answer !== null);
  if (error) throw new ApiError(error.message, { status: 422, reason: 'Invalid' });
  checkVersion(live, next.metadata.resourceVersion);
  const isSame = isDeepStrictEqual([next.data, next.binaryData], [live.data, live.binaryData]);
  if (live.immutable && !isSame) throw new ApiError('it is immutable', { status: 422, reason: 'Invalid' });
  const resourceVersion = `${Number(live.metadata.resourceVersion) + 1}`;
  return withoutEmptyMaps({ ...next, metadata: { ...next.metadata, resourceVersion } });
}

function checkVersion(live: ConfigMap, version: string): void {
  if (live.metadata.resourceVersion === version) return;
  throw new ApiError('it has been modified', { status: 409, reason: 'Conflict' });
}

/** What is empty is absent on the wire. */
function withoutEmptyMaps(object: ConfigMap): ConfigMap {
  const isFilled = ([, part]: [string, unknown]) =>
    typeof part !== 'object' || part === null || Object.keys(part).length > 0;
  const filled = <T extends object>(parts: T) =>
    Object.fromEntries(Object.entries(parts).filter(isFilled)) as T;
  return { ...filled(object), metadata: filled(object.metadata) };
}
