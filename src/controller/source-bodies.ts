import { LRUCache } from 'lru-cache';
import type { ConfigMapApi } from '../kube/api/config-maps.ts';
import type { ObjectKey } from '../kube/api/object-key.ts';
import type { ConfigMap } from '../kube/api/types.ts';
import type { Content } from '../mirror/observe/content.ts';
import { selectContent } from '../mirror/observe/content.ts';
import { digestOf } from '../mirror/observe/digest.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import type { MirrorRequest } from '../mirror/request/request.ts';

/** The source has changed since it was observed: the event that says so is on its way. */
export class StaleSourceError extends Error {
  override readonly name = 'StaleSourceError';
}

interface Body {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly content: Content;
}

/** Objects around the text of a body, roughly; it keeps a million empty bodies from counting as nothing. */
const OVERHEAD_BYTES = 256;

/**
 * The data of sources, most recently used first, in bounded memory (SPEC W4). What is missing is read again when a
 * write needs it, which is rare: a settled companion needs no body, its digest is enough.
 */
export class SourceBodies {
  readonly #api: Pick<ConfigMapApi, 'get'>;
  readonly #cache: LRUCache<ObjectKey, Body>;

  /** `maxBytes`: bound of the cache; 0 or less: keep nothing. */
  constructor(api: Pick<ConfigMapApi, 'get'>, maxBytes: number) {
    this.#api = api;
    // A size of 0 would mean "unbounded" to the library; 1 keeps nothing, since every body is larger.
    this.#cache = new LRUCache({ maxSize: Math.max(1, maxBytes), sizeCalculation: sizeOf });
  }

  /** Takes the body of a source that the informer has just received. */
  put(key: ObjectKey, source: ConfigMap): void {
    const { uid, resourceVersion } = source.metadata;
    this.#cache.set(key, { uid, resourceVersion, content: contentOf(source) });
  }

  forget(key: ObjectKey): void {
    this.#cache.delete(key);
  }

  /**
   * What the source's companions are to hold, as of the observed version.
   * @throws StaleSourceError when that version is not to be had any more; also what the API throws.
   */
  async selectedContent(source: ObservedConfigMap, request: MirrorRequest): Promise<Content> {
    const cached = this.#cache.get(source.key);
    if (cached?.uid === source.uid && cached.resourceVersion === source.resourceVersion) {
      return selectContent(cached.content, request);
    }
    const live = await this.#api.get(source.key);
    const content = selectContent(contentOf(live), request);
    // The digest decides, not the resourceVersion: a change of mere metadata leaves the content what was observed.
    if (live.metadata.uid !== source.uid || digestOf(content) !== source.digest) {
      throw new StaleSourceError('the source has changed since it was observed');
    }
    const { uid, resourceVersion } = source;
    this.#keepIfRoom(source.key, { uid, resourceVersion, content: contentOf(live) });
    return content;
  }

  /** Pushes nothing out: a start over more than fits would evict each body right before its turn, and read all again. */
  #keepIfRoom(key: ObjectKey, body: Body): void {
    const { calculatedSize, maxSize } = this.#cache;
    const size = sizeOf(body);
    if (calculatedSize + size <= maxSize) this.#cache.set(key, body, { size });
  }
}

function contentOf(object: ConfigMap): Content {
  return { data: object.data ?? {}, binaryData: object.binaryData ?? {} };
}

function sizeOf({ content }: Body): number {
  let bytes = OVERHEAD_BYTES;
  for (const entries of [content.data, content.binaryData]) {
    for (const [key, value] of Object.entries(entries)) bytes += key.length + sizeOfText(value);
  }
  return bytes;
}

/** A character of a JavaScript string takes one byte or, once one of them is beyond Latin-1, two; Latin-1 is taken for that. */
function sizeOfText(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
