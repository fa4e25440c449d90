import type { JsonObject } from '../objects/json.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import type { Reads } from '../verbs/reads.ts';
import type { ResourcePath, Verb } from '../verbs/resource-path.ts';
import type { Writes } from '../verbs/writes.ts';
import { formOf } from './answer-form.ts';
import type { Exchange } from './http-exchange.ts';
import { type Form, type Renderer, renderedWatch } from './render.ts';
import { parseBody, patchTypeOf, receiveDeleteOptions } from './request-body.ts';

export interface ResourceDeps {
  readonly reads: Reads;
  readonly writes: Writes;
  readonly renderer: Renderer;
  /** Ends watches. */
  readonly stop: AbortSignal;
}

/**
 * Answers requests for resources: reads the request, lets the verb do its work, renders the result.
 */
export class ResourceHandlers {
  readonly #deps: ResourceDeps;

  constructor(deps: ResourceDeps) {
    this.#deps = deps;
  }

  async handle(exchange: Exchange, path: ResourcePath, verb: Verb): Promise<void> {
    const { reads, writes, renderer, stop } = this.#deps;
    if (verb === 'patch') return this.#patch(exchange, path);
    const { query } = exchange;
    const form = formOf(exchange, path.kind);
    switch (verb) {
      case 'get':
        return this.#answer(exchange, form, 200, reads.get(path, query));
      case 'list': {
        const { objects, meta } = reads.list(path, query);
        return exchange.answer(200, renderer.list(form, objects, meta));
      }
      case 'watch':
        await reads.watch(path, query, renderedWatch(renderer, form), (timeoutMs) =>
          exchange.stream(timeoutMs, stop),
        );
        return exchange.end();
      case 'create':
        return this.#answer(exchange, form, 201, writes.create(path, exchange, await bodyOf(exchange, path)));
      case 'update': {
        const { created, object } = writes.update(path, exchange, await bodyOf(exchange, path));
        return this.#answer(exchange, form, created ? 201 : 200, object);
      }
      case 'delete': {
        const { deleted, object } = writes.delete(path, exchange, await deleteBody(exchange));
        if (deleted) return exchange.answer(200, JSON.stringify(deletedStatus(path, object)));
        return this.#answer(exchange, form, 200, object);
      }
      case 'deletecollection': {
        const { objects, meta } = writes.deleteCollection(path, exchange, await deleteBody(exchange));
        return exchange.answer(200, renderer.list(form, objects, meta));
      }
    }
  }

  async #patch(exchange: Exchange, path: ResourcePath): Promise<void> {
    const type = patchTypeOf(exchange.contentType);
    const form = formOf(exchange, path.kind);
    const text = (await exchange.body()).toString();
    const { created, object } = this.#deps.writes.patch(path, exchange, type, text);
    this.#answer(exchange, form, created ? 201 : 200, object);
  }

  #answer(exchange: Exchange, form: Form, code: number, object: KubeObject): void {
    exchange.answer(code, this.#deps.renderer.object(form, object));
  }
}

const bodyOf = async (exchange: Exchange, { kind }: ResourcePath) =>
  parseBody(kind.schema, await exchange.body(), exchange.contentType);

async function deleteBody(exchange: Exchange): Promise<JsonObject | undefined> {
  const bytes = await exchange.body();
  return bytes.length === 0 ? undefined : receiveDeleteOptions(bytes, exchange.contentType);
}

const deletedStatus = ({ kind }: ResourcePath, { metadata: { name, uid } }: KubeObject) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.resource, uid },
});
