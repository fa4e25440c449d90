/**
 * Renders objects as JSON text in the requested version and view, once for each version of an
 * object.
 */

import { emptyObject } from '../kinds/decode-as.ts';
import { apiVersionOf, internalTypeOf, type Kind } from '../kinds/kinds.ts';
import type { JsonObject } from '../objects/json.ts';
import { type KubeObject, toJson } from '../objects/kube-object.ts';
import { StatusError } from '../objects/status.ts';
import type { ListMeta } from '../verbs/reads.ts';
import type { WatchLines } from '../verbs/watch.ts';
import { humanDuration } from './human-duration.ts';
import type { View } from './media-type.ts';

/** What the rows of a table contain besides their cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface Form {
  readonly kind: Kind;
  readonly view: View;
  readonly includeObject: IncludeObject;
}

const META_API = 'meta.k8s.io/v1';

export class Renderer {
  readonly #now: () => Date;
  /** By kind: the members of each stored object as text, without kind and apiVersion. */
  readonly #bodies = new Map<Kind, WeakMap<KubeObject, string>>();
  readonly #metadata = new WeakMap<KubeObject, string>();

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** `object` is in stored form. */
  object(form: Form, object: KubeObject): string {
    switch (form.view) {
      case 'object':
        return `{"kind":"${form.kind.kind}","apiVersion":"${apiVersionOf(form.kind)}",${this.#body(form.kind, object)}`;
      case 'metadata':
        return this.#partial(object);
      case 'metadataList':
        throw notAcceptable(
          `you requested PartialObjectMetadataList, but the requested object is not a list (*${internalTypeOf(form.kind)})`,
        );
      case 'table':
        return this.#table(form, [object], { resourceVersion: object.metadata.resourceVersion ?? '' }, true);
    }
  }

  list(form: Form, objects: readonly KubeObject[], meta: ListMeta): string {
    const { kind } = form;
    switch (form.view) {
      case 'object': {
        const items = objects.map((object) => `{${this.#body(kind, object)}`);
        return listText(`${kind.kind}List`, apiVersionOf(kind), meta, items);
      }
      case 'metadata':
        throw notAcceptable(
          `you requested PartialObjectMetadata, but the requested object is a list (*${internalTypeOf(kind)}List)`,
        );
      case 'metadataList':
        return listText(
          'PartialObjectMetadataList',
          META_API,
          meta,
          objects.map((object) => this.#partial(object)),
        );
      case 'table':
        return this.#table(form, objects, meta, true);
    }
  }

  /** One object of a watch. A table has its columns only in the first event. */
  watched(form: Form, object: KubeObject, first: boolean): string {
    if (form.view !== 'table') return this.object(form, object);
    return this.#table(form, [object], { resourceVersion: object.metadata.resourceVersion ?? '' }, first);
  }

  bookmark(form: Form, revision: number, endOfInitialEvents: boolean, first: boolean): string {
    const metadata: JsonObject = {
      resourceVersion: String(revision),
      ...(endOfInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    if (form.view === 'table') {
      const object = { ...emptyObject(form.kind), metadata } as unknown as KubeObject;
      return this.#table(form, [object], { resourceVersion: String(revision) }, first);
    }
    if (form.view === 'metadata') {
      return JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: META_API, metadata });
    }
    return JSON.stringify({ ...emptyObject(form.kind), metadata });
  }

  #body(kind: Kind, stored: KubeObject): string {
    let bodies = this.#bodies.get(kind);
    if (!bodies) {
      bodies = new WeakMap();
      this.#bodies.set(kind, bodies);
    }
    const known = bodies.get(stored);
    if (known !== undefined) return known;
    const { kind: _kind, apiVersion: _apiVersion, ...members } = toJson(kind.fromStored(stored));
    const body = JSON.stringify(members).slice(1);
    bodies.set(stored, body);
    return body;
  }

  #partial(object: KubeObject): string {
    const known = this.#metadata.get(object);
    if (known !== undefined) return known;
    const partial = `{"kind":"PartialObjectMetadata","apiVersion":"${META_API}","metadata":${JSON.stringify(object.metadata)}}`;
    this.#metadata.set(object, partial);
    return partial;
  }

  #table(form: Form, objects: readonly KubeObject[], meta: ListMeta, withColumns: boolean): string {
    const columns = withColumns ? form.kind.columns : null;
    const now = this.#now().getTime();
    const age = (timestamp: string | undefined): string =>
      timestamp === undefined ? '<unknown>' : humanDuration(now - Date.parse(timestamp));
    const rows = objects.map(
      (object) =>
        `{"cells":${JSON.stringify(form.kind.cells(object, age).map((cell) => cell ?? ''))},"object":${this.#included(form, object)}}`,
    );
    return `{"kind":"Table","apiVersion":"${META_API}","metadata":${JSON.stringify(meta)},"columnDefinitions":${JSON.stringify(columns)},"rows":[${rows.join(',')}]}`;
  }

  #included(form: Form, object: KubeObject): string {
    switch (form.includeObject) {
      case 'None':
        return 'null';
      case 'Metadata':
        return this.#partial(object);
      case 'Object':
        return this.object({ ...form, view: 'object' }, object);
    }
  }
}

const notAcceptable = (message: string): StatusError => new StatusError(406, 'NotAcceptable', message);

const listText = (kind: string, apiVersion: string, meta: ListMeta, items: readonly string[]): string =>
  `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(meta)},"items":[${items.join(',')}]}`;

/** The lines of one watch in `form`. */
export function renderedWatch(renderer: Renderer, form: Form): WatchLines {
  let first = true;
  const line = (type: string, render: (isFirst: boolean) => string): string => {
    const text = `{"type":"${type}","object":${render(first)}}\n`;
    first = false;
    return text;
  };
  return {
    event: (type, object) => line(type, (isFirst) => renderer.watched(form, object, isFirst)),
    bookmark: (revision, endOfInitialEvents) =>
      line('BOOKMARK', (isFirst) => renderer.bookmark(form, revision, endOfInitialEvents, isFirst)),
    error: (status) => line('ERROR', () => JSON.stringify(status)),
  };
}
