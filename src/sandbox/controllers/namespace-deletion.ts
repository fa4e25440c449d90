/**
 * Empties a namespace that is being deleted, then removes its finalizer (k8s.io/kubernetes
 * pkg/controller/namespace).
 */

import {
  KUBERNETES_FINALIZER,
  namespaceKind,
  specFinalizersOf,
  withSpecFinalizers,
} from '../kinds/kind-namespace.ts';
import type { Kind } from '../kinds/kinds.ts';
import { listAt, objectAt } from '../objects/json.ts';
import { type KubeObject, toJson, withField } from '../objects/kube-object.ts';
import { followChanges } from '../storage/change-feed.ts';
import { keyOf } from '../storage/object-store.ts';
import type { Registry } from '../storage/registry.ts';
import type { InternalWriter } from './internal-writer.ts';
import { deletionConditions, type Remains } from './namespace-conditions.ts';
import { TaskQueue } from './task-queue.ts';

export class NamespaceDeletion {
  readonly #registry: Registry;
  readonly #writer: InternalWriter;
  readonly #queue: TaskQueue;
  #kinds: readonly Kind[] = [];

  /** It does nothing more once `stop` has aborted. */
  constructor(registry: Registry, writer: InternalWriter, stop: AbortSignal) {
    this.#registry = registry;
    this.#writer = writer;
    this.#queue = new TaskQueue((name) => this.#process(name), stop);
  }

  /** Handles namespaces with objects of `kinds`. */
  start(kinds: readonly Kind[]): void {
    this.#kinds = kinds.filter((kind) => kind.namespaced);
    const namespaces = this.#registry.collection(namespaceKind);
    followChanges(namespaces.log, ({ current }) => {
      if (current?.metadata.deletionTimestamp) this.#queue.add(current.metadata.name);
    });
    for (const kind of this.#kinds) {
      const { log } = this.#registry.collection(kind);
      followChanges(log, ({ previous, current }) => {
        // This may have been the last object, which waited for a finalizer.
        if (!current && previous?.metadata.namespace) this.#queue.add(previous.metadata.namespace);
      });
    }
  }

  #process(name: string): void {
    const namespace = this.#registry.collection(namespaceKind).get(keyOf(undefined, name));
    if (!namespace?.metadata.deletionTimestamp) return;
    if (!specFinalizersOf(namespace).includes(KUBERNETES_FINALIZER)) return;
    const remains = this.#kinds.map((kind) => this.#empty(kind, name));
    this.#report(namespace, remains);
    if (remains.some(({ objects }) => objects.length > 0)) return;
    this.#writer.update(namespaceKind, namespace, 'finalize', (live) =>
      withSpecFinalizers(
        live,
        specFinalizersOf(live).filter((finalizer) => finalizer !== KUBERNETES_FINALIZER),
      ),
    );
  }

  #report(namespace: KubeObject, remains: readonly Remains[]): void {
    const now = this.#writer.timestamp();
    this.#writer.update(namespaceKind, namespace, 'status', (live) => {
      const status = objectAt(toJson(live), 'status');
      const conditions = deletionConditions(remains, listAt(status, 'conditions'), now);
      return withField(live, 'status', { ...status, conditions });
    });
  }

  /** Deletes all objects of `kind` in the namespace and returns those that are still there. */
  #empty(kind: Kind, namespace: string): Remains {
    const collection = this.#registry.collection(kind);
    for (const { metadata } of collection.list(namespace)) {
      this.#registry.delete(
        { kind, namespace, name: metadata.name },
        { dryRun: false, propagation: 'Background', uid: undefined, resourceVersion: undefined },
      );
    }
    return { resource: kind.resource, group: kind.group, objects: collection.list(namespace) };
  }
}
