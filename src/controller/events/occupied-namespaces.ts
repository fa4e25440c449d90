import type { Handler } from '../../informer/handler.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';

/**
 * The namespaces in which the cache has a ConfigMap. It only counts them: an index would cost
 * memory for every companion.
 */
export class OccupiedNamespaces implements Handler<ObservedConfigMap> {
  readonly #counts = new Map<string, number>();

  has(namespace: string): boolean {
    return this.#counts.has(namespace);
  }

  add({ namespace }: ObservedConfigMap): void {
    this.#counts.set(namespace, (this.#counts.get(namespace) ?? 0) + 1);
  }

  update(): void {
    // It stays in its namespace.
  }

  delete({ namespace }: ObservedConfigMap): void {
    const left = (this.#counts.get(namespace) ?? 0) - 1;
    if (left > 0) this.#counts.set(namespace, left);
    else this.#counts.delete(namespace);
  }
}
