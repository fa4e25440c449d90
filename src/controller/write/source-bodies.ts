import { LRUCache } from 'lru-cache';
import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { ConfigMap } from '../../kube/api/types.ts';
import { type Content, selectContent } from '../../mirror/observe/content.ts';
import { digestOf } from '../../mirror/observe/digest.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import { StaleSourceError } from '../memory/failure.ts';

interface Body {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly content: Content;
  /** What companions hold of it, once asked for: to select may take a tenth of a second. */
  selected?: Content;
}

/** Rough size (bytes) of an entry without its text, so that empty bodies count too. */
const OVERHEAD_BYTES = 256;

/** Share of the cache for bodies that were read. */
const READ_SHARE = 1 / 8;

/**
 * A bounded cache of the data of sources, their values and revisions in use (SPEC W4). A write that
 * needs a body which is not in it reads it again. That is rare: to see that a companion is in sync,
 * its digest is enough. What was read evicts nothing that the watch brought: a first start over
 * more than fits would evict each body shortly before its turn, and read every one of them.
 */
export class SourceBodies {
  readonly #api: Pick<ConfigMapApi, 'get'>;
  readonly #watched: LRUCache<ObjectKey, Body>;
  readonly #read: LRUCache<ObjectKey, Body>;

  /** `maxBytes`: maximum size; 0 or less: keep nothing. */
  constructor(api: Pick<ConfigMapApi, 'get'>, maxBytes: number) {
    this.#api = api;
    this.#watched = cacheOf(maxBytes * (1 - READ_SHARE));
    this.#read = cacheOf(maxBytes * READ_SHARE);
  }

  /** Its present size (bytes), roughly. */
  get bytes(): number {
    return this.#watched.calculatedSize + this.#read.calculatedSize;
  }

  /** Returns what the ConfigMap held before; undefined if that is not known. */
  put(key: ObjectKey, object: ConfigMap): Content | undefined {
    const { uid, resourceVersion } = object.metadata;
    const before = this.#cached(key);
    this.#keep(this.#watched, key, { uid, resourceVersion, content: contentOf(object) });
    return before?.uid === uid ? before.content : undefined;
  }

  forget(key: ObjectKey): void {
    this.#watched.delete(key);
    this.#read.delete(key);
  }

  /** Whether {@link content} would not read it. */
  has(object: ObservedConfigMap, isRevision: boolean): boolean {
    return this.#current(object, isRevision) !== undefined;
  }

  /**
   * What the ConfigMap held when it was observed: of a source the selected keys, by their names in
   * companions.
   * @throws StaleSourceError if it has changed since, or what the API throws.
   */
  async content(object: ObservedConfigMap, isRevision = false): Promise<Content> {
    const { key, uid, resourceVersion, digest } = object;
    const cached = this.#current(object, isRevision);
    if (cached !== undefined) {
      cached.selected ??= selectedIn(cached.content, object);
      return cached.selected;
    }
    const live = await this.#api.get(key);
    const content = selectedIn(contentOf(live), object);
    // Compare the digest, not the resourceVersion, which an edit of the metadata changes too.
    if (live.metadata.uid !== uid || digestOf(content) !== digest) {
      throw new StaleSourceError('the ConfigMap has changed since it was observed');
    }
    // Store it under the observed version, so that the next companion finds it.
    this.#keep(this.#read, key, { uid, resourceVersion, content: contentOf(live) });
    return content;
  }

  /** A revision is immutable, so only its metadata can differ from version to version. */
  #current({ key, uid, resourceVersion }: ObservedConfigMap, isRevision: boolean): Body | undefined {
    const cached = this.#cached(key);
    const isCurrent = cached?.uid === uid && (isRevision || cached.resourceVersion === resourceVersion);
    return isCurrent ? cached : undefined;
  }

  #cached(key: ObjectKey): Body | undefined {
    return this.#watched.get(key) ?? this.#read.get(key);
  }

  /** A key is in one of the two at most. */
  #keep(cache: LRUCache<ObjectKey, Body>, key: ObjectKey, body: Body): void {
    this.forget(key);
    cache.set(key, body);
  }
}

function cacheOf(bytes: number): LRUCache<ObjectKey, Body> {
  // The library takes 0 for "unbounded". With 1 it keeps nothing, since every body is larger.
  return new LRUCache({ maxSize: Math.max(1, Math.floor(bytes)), sizeCalculation: sizeOf });
}

function selectedIn(content: Content, { request }: ObservedConfigMap): Content {
  return request?.ok ? selectContent(content, request.value) : content;
}

export function contentOf(object: ConfigMap): Content {
  return { data: object.data ?? {}, binaryData: object.binaryData ?? {} };
}

function sizeOf({ content }: Body): number {
  let bytes = OVERHEAD_BYTES;
  for (const entries of [content.data, content.binaryData]) {
    for (const [key, value] of Object.entries(entries)) bytes += key.length + sizeOfText(value);
  }
  return bytes;
}

/** V8 needs one byte a character for Latin-1 text, else two. Only ASCII counts as one here. */
function sizeOfText(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
