/**
 * The rules of writing: what a create, update or delete must satisfy, and what the server adds
 * (k8s.io/apiserver pkg/registry/generic/registry). Every call is complete when it returns.
 */
import { createHash } from 'node:crypto';
import { type FieldError, invalidObject } from '../kinds/field-errors.ts';
import { pathSegmentProblems } from '../kinds/formats.ts';
import { phaseOf } from '../kinds/kind-namespace.ts';
import { type Kind, kindName, resourceName, type Subresource } from '../kinds/kinds.ts';
import { metaErrors, metaUpdateErrors } from '../kinds/validation.ts';
import { type KubeObject, withMeta } from '../objects/kube-object.ts';
import { alreadyExists, forbidden, notFound, StatusError } from '../objects/status.ts';
import { sameButForTimes } from '../patch/managed-fields.ts';
import { timeOf } from '../schema/scalars.ts';
import { type DeleteOptions, finalizersFor, isHeldBack, refuseDeletion } from './deletion.ts';
import { type Collection, keyOf, type ObjectStore } from './object-store.ts';
import { refuseOtherUid, refuseStale, type Target } from './preconditions.ts';

export interface RegistryDeps {
  readonly store: ObjectStore;
  readonly now: () => Date;
  readonly uid: () => string;
}

export interface Update {
  readonly target: Target;
  readonly subresource: Subresource;
  readonly dryRun: boolean;
  /** Creates what does not exist. */
  readonly allowCreate: boolean;
  /** The uid that the live object must have. */
  readonly uid?: string;
  /** The new object, in stored form; `live` is absent when there is none. */
  change(live: KubeObject | undefined): KubeObject;
}

/**
 * Maximum length of the prefix of a generated name; the suffix fills the 63 characters of a DNS
 * label.
 */
const GENERATED_PREFIX_LIMIT = 58;
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const GENERATE_ATTEMPTS = 8;

/** The object in its new state, or the live one where nothing changed. */
export interface Written {
  readonly object: KubeObject;
  readonly created: boolean;
}

/** `object` is its last state or, when something holds it back, the state that waits. */
export interface Deletion {
  readonly object: KubeObject;
  readonly deleted: boolean;
}

export class Registry {
  readonly #store: ObjectStore;
  readonly #now: () => Date;
  readonly #uid: () => string;

  constructor(deps: RegistryDeps) {
    this.#store = deps.store;
    this.#now = deps.now;
    this.#uid = deps.uid;
  }

  collection(kind: Kind): Collection {
    return this.#store.collection(kind.collection);
  }

  get({ kind, namespace, name }: Target): KubeObject {
    const object = this.collection(kind).get(keyOf(namespace, name));
    if (!object) throw notFound(resourceName(kind), name);
    return object;
  }

  /** Creates `object`, which is in stored form and has its namespace. Throws the API's refusals. */
  create(kind: Kind, object: KubeObject, dryRun: boolean): KubeObject {
    if (object.metadata.name || !object.metadata.generateName) return this.#insert(kind, object, dryRun);
    for (let attempt = 1; ; attempt++) {
      const name = this.#generateName(object.metadata.generateName);
      const taken = this.collection(kind).get(keyOf(object.metadata.namespace, name)) !== undefined;
      if (!taken || attempt === GENERATE_ATTEMPTS) {
        return this.#insert(kind, withMeta(object, { name }), dryRun);
      }
    }
  }

  /** Throws the API's refusals. A change without effect is not a write. */
  update(update: Update): Written {
    const { target, dryRun } = update;
    const { kind, name } = target;
    const live = this.collection(kind).get(keyOf(target.namespace, name));
    if (!live && !update.allowCreate) throw notFound(resourceName(kind), name);
    refuseOtherUid(target, update.uid, live);
    if (!live) {
      // A PUT or apply that creates ignores a given resourceVersion; a POST does not.
      const object = withMeta(update.change(undefined), { resourceVersion: undefined });
      return { object: this.#insert(kind, object, dryRun), created: true };
    }
    const changed = update.change(live);
    refuseStale(target, changed, live);
    const object = this.#prepareUpdate(kind, changed, live, update.subresource);
    if (sameButForTimes(object, live)) return { object: live, created: false };
    if (object.metadata.deletionTimestamp !== undefined && !isHeldBack(kind, object)) {
      if (!dryRun) this.collection(kind).remove(keyOf(target.namespace, name));
      return { object, created: false };
    }
    return { object: dryRun ? object : this.collection(kind).put(object), created: false };
  }

  /** Deletes the object, or begins to if something holds it back. Throws the API's refusals. */
  delete(target: Target, options: DeleteOptions): Deletion {
    const { kind, namespace, name } = target;
    const live = this.get(target);
    refuseDeletion(kind, live, options);
    const waiting = withMeta(live, { finalizers: finalizersFor(live, options) });
    const collection = this.collection(kind);
    if (!isHeldBack(kind, waiting)) {
      const removed = options.dryRun ? undefined : collection.remove(keyOf(namespace, name));
      return { object: removed ?? live, deleted: true };
    }
    const deleting = live.metadata.deletionTimestamp
      ? waiting
      : kind.beginDeletion(waiting, timeOf(this.#now()));
    if (sameButForTimes(deleting, live)) return { object: live, deleted: false };
    return { object: options.dryRun ? deleting : collection.put(deleting), deleted: false };
  }

  #insert(kind: Kind, object: KubeObject, dryRun: boolean): KubeObject {
    const { name, namespace } = object.metadata;
    this.#admit(kind, object);
    const created = withMeta(object, {
      uid: this.#uid(),
      creationTimestamp: timeOf(this.#now()),
      deletionTimestamp: undefined,
      deletionGracePeriodSeconds: undefined,
    });
    const prepared = kind.prepareCreate(created);
    refuseInvalid(kind, prepared, kind.validate(prepared));
    refuseInvalid(kind, prepared, metaErrors(prepared.metadata, kind.namespaced, pathSegmentProblems));
    if (object.metadata.resourceVersion) {
      throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created');
    }
    const collection = this.collection(kind);
    if (collection.get(keyOf(namespace, name))) throw alreadyExists(resourceName(kind), name);
    const final = kind.canonicalize(prepared);
    return dryRun ? final : collection.put(final);
  }

  /** The NamespaceLifecycle admission: the namespace must exist and not be terminating. */
  #admit(kind: Kind, object: KubeObject): void {
    const { name, namespace } = object.metadata;
    if (!kind.namespaced || namespace === undefined) return;
    const owner = this.#store.collection('namespaces').get(keyOf(undefined, namespace));
    if (!owner) throw notFound({ group: '', name: 'namespaces' }, namespace);
    if (phaseOf(owner) !== 'Terminating') return;
    const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
    throw forbidden(resourceName(kind), name, why, [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ]);
  }

  #prepareUpdate(kind: Kind, changed: KubeObject, live: KubeObject, subresource: Subresource): KubeObject {
    const old = live.metadata;
    const restored = withMeta(changed, {
      uid: changed.metadata.uid ?? old.uid,
      resourceVersion: old.resourceVersion,
      generation: old.generation,
      creationTimestamp: old.creationTimestamp,
      deletionTimestamp: old.deletionTimestamp ?? changed.metadata.deletionTimestamp,
      deletionGracePeriodSeconds:
        changed.metadata.deletionGracePeriodSeconds ?? old.deletionGracePeriodSeconds,
    });
    const object = kind.prepareUpdate(restored, live, subresource);
    refuseInvalid(kind, object, [
      ...metaErrors(object.metadata, kind.namespaced, pathSegmentProblems),
      ...metaUpdateErrors(object.metadata, old),
      ...kind.validateUpdate(object, live, subresource),
    ]);
    return kind.canonicalize(object);
  }

  /** The suffix depends on the injected uids only, so that a run with fixed uids is repeatable. */
  #generateName(prefix: string): string {
    const digest = createHash('sha256').update(this.#uid()).digest();
    const suffix = [...digest.subarray(0, 5)].map((byte) => SUFFIX_ALPHABET[byte % SUFFIX_ALPHABET.length]);
    return `${prefix.slice(0, GENERATED_PREFIX_LIMIT)}${suffix.join('')}`;
  }
}

function refuseInvalid(kind: Kind, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(kindName(kind), object.metadata.name ?? '', errors);
}
