import { LRUCache } from 'lru-cache';
import type { ConfigMapApi } from '../../kube/api/config-maps.ts';
import type { ObjectKey } from '../../kube/api/object-key.ts';
import type { ConfigMap } from '../../kube/api/types.ts';
import { type Content, selectContent } from '../../mirror/observe/content.ts';
import { digestOf } from '../../mirror/observe/digest.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import type { MirrorRequest } from '../../mirror/request/request.ts';
import { StaleSourceError } from '../memory/failure.ts';

interface Body {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly content: Content;
}

/** Size (bytes) of the objects around a body's text, roughly, so that empty bodies count for something. */
const OVERHEAD_BYTES = 256;

/**
 * The data of sources, most recently used first, in bounded memory (SPEC W4). What is missing is read again when a
 * write needs it, which is rare: a settled companion needs no body, its digest is enough.
 */
export class SourceBodies {
  readonly #api: Pick<ConfigMapApi, 'get'>;
  readonly #cache: LRUCache<ObjectKey, Body>;

  /** `maxBytes`: size of the cache; 0 or less: keep nothing. */
  constructor(api: Pick<ConfigMapApi, 'get'>, maxBytes: number) {
    this.#api = api;
    // A size of 0 would mean "unbounded" to the library; 1 keeps nothing, since every body is larger.
    this.#cache = new LRUCache({ maxSize: Math.max(1, maxBytes), sizeCalculation: sizeOf });
  }

  /** Keeps the body of a source that the informer has just received. */
  put(key: ObjectKey, source: ConfigMap): void {
    const { uid, resourceVersion } = source.metadata;
    this.#cache.set(key, { uid, resourceVersion, content: contentOf(source) });
  }

  forget(key: ObjectKey): void {
    this.#cache.delete(key);
  }

  /**
   * What the source's companions are to hold, as of the observed version.
   * @throws StaleSourceError when the source has changed since; also what the API throws.
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
    // Under the version that was asked for, so that the next companion finds it.
    const { uid, resourceVersion } = source;
    this.#cache.set(source.key, { uid, resourceVersion, content: contentOf(live) });
    return content;
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

/** A character takes one byte in memory, or two once a character of the string is beyond Latin-1. Latin-1 counts as two. */
function sizeOfText(text: string): number {
  return Buffer.byteLength(text) === text.length ? text.length : 2 * text.length;
}
