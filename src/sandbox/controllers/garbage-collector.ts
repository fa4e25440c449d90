/**
 * Deletes an object when all its owners are gone or never existed, and completes foreground and
 * orphaning deletions (k8s.io/kubernetes pkg/controller/garbagecollector). An owner of a built-in
 * kind that the sandbox does not serve is absent. One of a custom kind counts as alive, as it does
 * there while the kind is unknown.
 */

import type { Kind } from '../kinds/kinds.ts';
import { kindOf, storedKindOf } from '../kinds/resources.ts';
import { equal, type Json } from '../objects/json.ts';
import { type KubeObject, type OwnerReference, withMeta } from '../objects/kube-object.ts';
import { StatusError } from '../objects/status.ts';
import { followChanges } from '../storage/change-feed.ts';
import type { Propagation } from '../storage/deletion.ts';
import type { Change } from '../storage/event-log.ts';
import { keyOf, keyOfObject } from '../storage/object-store.ts';
import type { Registry } from '../storage/registry.ts';
import type { InternalWriter } from './internal-writer.ts';
import { TaskQueue } from './task-queue.ts';

type Liveness = 'alive' | 'absent' | 'waiting';

export class GarbageCollector {
  readonly #registry: Registry;
  readonly #writer: InternalWriter;
  readonly #queue: TaskQueue;
  /** By the owner's uid: `collection key` of each dependent. */
  readonly #dependents = new Map<string, Set<string>>();

  /** It does nothing more once `stop` has aborted. */
  constructor(registry: Registry, writer: InternalWriter, stop: AbortSignal) {
    this.#registry = registry;
    this.#writer = writer;
    this.#queue = new TaskQueue((task) => this.#process(task), stop);
  }

  /** Watches the collections of `kinds`. */
  start(kinds: readonly Kind[]): void {
    for (const kind of kinds) {
      const { log } = this.#registry.collection(kind);
      followChanges(log, (change) => this.#observe(kind.collection, change));
    }
  }

  #observe(collection: string, { previous, current }: Change): void {
    const object = current ?? previous;
    if (!object) return;
    const task = `${collection} ${keyOfObject(object)}`;
    this.#index(task, previous, current);
    if (current) {
      const deleting = current.metadata.deletionTimestamp !== undefined;
      if (deleting || ownersChanged(previous, current)) this.#queue.add(task);
      if (deleting) this.#enqueueDependents(current);
    } else {
      this.#enqueueDependents(object);
      // Its owner may be waiting for this dependent.
      for (const owner of ownersOf(object)) this.#enqueueOwner(owner, object);
    }
  }

  #index(task: string, previous: KubeObject | undefined, current: KubeObject | undefined): void {
    for (const { uid } of ownersOf(previous)) {
      this.#dependents.get(uid)?.delete(task);
      if (this.#dependents.get(uid)?.size === 0) this.#dependents.delete(uid);
    }
    for (const { uid } of ownersOf(current)) this.#dependentsOf(uid).add(task);
  }

  #dependentsOf(uid: string): Set<string> {
    const known = this.#dependents.get(uid) ?? new Set();
    this.#dependents.set(uid, known);
    return known;
  }

  #enqueueDependents(owner: KubeObject): void {
    for (const task of this.#dependents.get(owner.metadata.uid ?? '') ?? []) this.#queue.add(task);
  }

  #enqueueOwner(owner: OwnerReference, dependent: KubeObject): void {
    const kind = kindOf(owner.apiVersion, owner.kind);
    if (!kind) return;
    const namespace = kind.namespaced ? dependent.metadata.namespace : undefined;
    this.#queue.add(`${kind.collection} ${keyOf(namespace, owner.name)}`);
  }

  #process(task: string): void {
    const found = this.#find(task);
    if (!found) return;
    const { kind, object } = found;
    try {
      if (object.metadata.deletionTimestamp) this.#release(kind, object);
      else this.#collect(kind, object);
    } catch (error) {
      // Refused (`default` cannot be deleted). The next change of the object or its owners retries.
      if (!(error instanceof StatusError)) throw error;
    }
  }

  #find(task: string): { readonly kind: Kind; readonly object: KubeObject } | undefined {
    const space = task.indexOf(' ');
    const kind = storedKindOf(task.slice(0, space));
    const object = kind && this.#registry.collection(kind).get(task.slice(space + 1));
    return object && { kind, object };
  }

  /** Deletes `object` when no owner is left, else removes the references to missing owners. */
  #collect(kind: Kind, object: KubeObject): void {
    const owners = object.metadata.ownerReferences ?? [];
    if (owners.length === 0) return;
    const states = owners.map((owner) => this.#stateOf(owner, object));
    if (!states.includes('alive')) {
      this.#delete(kind, object, policyFor(object, states.includes('waiting')));
    } else if (states.some((state) => state !== 'alive')) {
      const kept = owners.filter((_, i) => states[i] === 'alive');
      this.#write(kind, object, { ownerReferences: kept.length === 0 ? undefined : kept });
    }
  }

  #stateOf(owner: OwnerReference, dependent: KubeObject): Liveness {
    const kind = kindOf(owner.apiVersion, owner.kind);
    if (!kind) return isBuiltIn(owner.apiVersion) ? 'absent' : 'alive';
    const namespace = kind.namespaced ? dependent.metadata.namespace : undefined;
    const object = this.#registry.collection(kind).get(keyOf(namespace, owner.name));
    if (object?.metadata.uid !== owner.uid) return 'absent';
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    return deletionTimestamp && finalizers.includes('foregroundDeletion') ? 'waiting' : 'alive';
  }

  /** Removes the finalizer from a deleted owner once its dependents are orphaned or gone. */
  #release(kind: Kind, owner: KubeObject): void {
    const finalizers = owner.metadata.finalizers ?? [];
    const dependents = [...(this.#dependents.get(owner.metadata.uid ?? '') ?? [])].flatMap(
      (task) => this.#find(task) ?? [],
    );
    if (finalizers.includes('orphan')) {
      for (const dependent of dependents) this.#orphan(dependent.kind, dependent.object, owner);
      this.#removeFinalizer(kind, owner, 'orphan');
    } else if (finalizers.includes('foregroundDeletion')) {
      const blocking = dependents.some(({ object }) => blocksDeletion(object, owner));
      if (!blocking) this.#removeFinalizer(kind, owner, 'foregroundDeletion');
    }
  }

  #orphan(kind: Kind, dependent: KubeObject, owner: KubeObject): void {
    const kept = (dependent.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    this.#write(kind, dependent, { ownerReferences: kept.length === 0 ? undefined : kept });
  }

  #removeFinalizer(kind: Kind, object: KubeObject, finalizer: string): void {
    const kept = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    this.#write(kind, object, { finalizers: kept.length === 0 ? undefined : kept });
  }

  #write(kind: Kind, object: KubeObject, changes: Parameters<typeof withMeta>[1]): void {
    this.#writer.update(kind, object, '', (live) => withMeta(live, changes));
  }

  #delete(kind: Kind, object: KubeObject, propagation: Propagation): void {
    const { namespace, name, uid } = object.metadata;
    this.#registry.delete(
      { kind, namespace, name },
      { dryRun: false, propagation, uid, resourceVersion: undefined },
    );
  }
}

/** Groups of Kubernetes itself: `v1`, `apps/v1`, `batch/v1`, `….k8s.io/v1`. */
const isBuiltIn = (apiVersion: string): boolean => /^([a-z]+\/)?v1$|\.k8s\.io\//.test(apiVersion);

const ownersOf = (object: KubeObject | undefined): readonly OwnerReference[] =>
  object?.metadata.ownerReferences ?? [];

const ownersChanged = (previous: KubeObject | undefined, current: KubeObject): boolean =>
  !equal(ownersOf(current) as unknown as Json, ownersOf(previous) as unknown as Json);

/** The policy of the dependent's own finalizers, else that of its owner. */
function policyFor(object: KubeObject, ownerWaits: boolean): Propagation {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes('orphan')) return 'Orphan';
  return ownerWaits || finalizers.includes('foregroundDeletion') ? 'Foreground' : 'Background';
}

const blocksDeletion = (dependent: KubeObject, owner: KubeObject): boolean =>
  (dependent.metadata.ownerReferences ?? []).some(
    (reference) => reference.uid === owner.metadata.uid && reference.blockOwnerDeletion === true,
  );
