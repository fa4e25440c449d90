import { isDeepStrictEqual } from 'node:util';
import type { ConfigMapApi } from '../../src/kube/api/config-maps.ts';
import { keyOf, type ObjectKey } from '../../src/kube/api/object-key.ts';
import type { ConfigMap, ConfigMapPatch, ObjectMeta, OwnerReference } from '../../src/kube/api/types.ts';
import { ApiError } from '../../src/kube/errors.ts';
import type { StringMap } from '../../src/mirror/vocabulary.ts';

/** ConfigMaps in memory, with the answers that the writer depends on: 404, 409, 422, versions. */
export class MemoryApi implements ConfigMapApi {
  readonly objects = new Map<ObjectKey, ConfigMap>();
  /** Called before each write; throws, or never resolves, to make it fail or hang. */
  beforeWrite: (key: ObjectKey) => Promise<void> = async () => undefined;
  #version: number;
  readonly #now: (() => Date) | undefined;

  /** `now`: the server's time, if managed fields matter. */
  constructor(objects: readonly ConfigMap[] = [], version = 100, now?: () => Date) {
    for (const object of objects) this.objects.set(keyOf(object), object);
    this.#version = version;
    this.#now = now;
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

  async patch(key: ObjectKey, patch: ConfigMapPatch): Promise<ObjectMeta> {
    await this.beforeWrite(key);
    const live = await this.get(key);
    return this.#store(patched(live, patch), live);
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

  #store(object: ConfigMap, live?: ConfigMap): ObjectMeta {
    this.#version += 1;
    const time = `${this.#now?.().toISOString().slice(0, 19)}Z`;
    const managedFields = [{ manager: 'mirror-controller', operation: 'Update', time }];
    const metadata = {
      ...object.metadata,
      resourceVersion: `${this.#version}`,
      ...(this.#now && (live === undefined || setsAnything(object, live)) && { managedFields }),
    };
    const stored = withoutEmptyMaps({ ...object, metadata });
    this.objects.set(keyOf(stored), stored);
    return stored.metadata;
  }
}

/** The object after a strategic merge patch. Throws the API server's refusals. */
export function patched(live: ConfigMap, { metadata, data, binaryData }: ConfigMapPatch): ConfigMap {
  checkVersion(live, metadata.resourceVersion);
  const content = {
    data: merged(live.data, data) ?? {},
    binaryData: merged(live.binaryData, binaryData) ?? {},
  };
  const isSame = isDeepStrictEqual(content, { data: live.data ?? {}, binaryData: live.binaryData ?? {} });
  if (live.immutable && !isSame) throw new ApiError('it is immutable', { status: 422, reason: 'Invalid' });
  const [directive, ...owners] = metadata.ownerReferences ?? [];
  if (directive !== undefined && !('$patch' in directive)) throw new Error('lists are only replaced here');
  return withoutEmptyMaps({
    ...live,
    ...content,
    metadata: {
      ...live.metadata,
      resourceVersion: `${Number(live.metadata.resourceVersion) + 1}`,
      labels: merged(live.metadata.labels, metadata.labels) ?? {},
      annotations: merged(live.metadata.annotations, metadata.annotations) ?? {},
      ...(directive !== undefined && { ownerReferences: owners as OwnerReference[] }),
    },
  });
}

/** Like the API server: without anything to replace, it drops the directive and its entries. */
function merged(
  present: StringMap | undefined,
  change: Readonly<Record<string, string | null>> | undefined,
): StringMap | undefined {
  if (change === undefined) return present;
  const { $patch, ...entries } = change;
  if ($patch !== undefined && present === undefined) return undefined;
  const all = { ...($patch === undefined && present), ...entries };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}

/**
 * Whether a write adds or changes a value. The API server keeps the time of one that only removes.
 */
function setsAnything(object: ConfigMap, live: ConfigMap): boolean {
  const sets = (entries: StringMap = {}, before: StringMap = {}) =>
    Object.entries(entries).some(([key, value]) => before[key] !== value);
  return (
    sets(object.data, live.data) ||
    sets(object.binaryData, live.binaryData) ||
    sets(object.metadata.labels, live.metadata.labels) ||
    sets(object.metadata.annotations, live.metadata.annotations)
  );
}

function checkVersion(live: ConfigMap, version: string): void {
  if (live.metadata.resourceVersion === version) return;
  throw new ApiError('it has been modified', { status: 409, reason: 'Conflict' });
}

/** Empty maps are absent on the wire. */
function withoutEmptyMaps(object: ConfigMap): ConfigMap {
  const isFilled = ([, part]: [string, unknown]) =>
    typeof part !== 'object' || part === null || Object.keys(part).length > 0;
  const filled = <T extends object>(parts: T) =>
    Object.fromEntries(Object.entries(parts).filter(isFilled)) as T;
  return { ...filled(object), metadata: filled(object.metadata) };
}
