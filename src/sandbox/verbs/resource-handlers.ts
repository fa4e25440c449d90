import type { Exchange } from '../http/http-exchange.ts';
import type { ResourcePath, Verb } from '../http/request-info.ts';
import type { ReadHandlers } from './read-handlers.ts';
import type { WriteHandlers } from './write-handlers.ts';

/** Answers a request for a resource, whatever its verb. */
export class ResourceHandlers {
  readonly #reads: ReadHandlers;
  readonly #writes: WriteHandlers;

  constructor(reads: ReadHandlers, writes: WriteHandlers) {
    this.#reads = reads;
    this.#writes = writes;
  }

  async handle(exchange: Exchange, path: ResourcePath, verb: Verb): Promise<void> {
    switch (verb) {
      case 'get':
        return this.#reads.get(exchange, path);
      case 'list':
        return this.#reads.list(exchange, path);
      case 'watch':
        return this.#reads.watch(exchange, path);
      case 'create':
        return this.#writes.create(exchange, path);
      case 'update':
        return this.#writes.update(exchange, path);
      case 'patch':
        return this.#writes.patch(exchange, path);
      case 'delete':
        return this.#writes.delete(exchange, path);
      case 'deletecollection':
        return this.#writes.deleteCollection(exchange, path);
    }
  }
}
