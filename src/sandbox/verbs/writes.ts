/** The verbs that write: create, update, patch, delete and deletecollection. */
import { emptyObject } from '../kinds/decode-as.ts';
import { dedupOwnerReferences } from '../kinds/owner-references.ts';
import type { Json, JsonObject } from '../objects/json.ts';
import { type KubeObject, withMeta } from '../objects/kube-object.ts';
import { badRequest } from '../objects/status.ts';
import { owned, type Writer } from '../patch/ownership.ts';
import { timeOf } from '../schema/scalars.ts';
import type { Target } from '../storage/preconditions.ts';
import type { Deletion, Registry, Written } from '../storage/registry.ts';
import { applied } from './applying.ts';
import { parseDeleteOptions } from './delete-options.ts';
import { type PatchType, patched } from './patching.ts';
import type { Reads, Selected } from './reads.ts';
import { type Received, receive } from './receiving.ts';
import { type ResourcePath, targetOf } from './resource-path.ts';
import { parseWriteOptions, type WriteOptions } from './write-options.ts';

/** What a write needs of its request besides path and body. */
export interface WriteRequest {
  readonly query: URLSearchParams;
  readonly userAgent: string;
  /** Adds warnings to the answer, whatever that will be. */
  warn(warnings: readonly string[]): void;
}

export interface WriteDeps {
  readonly reads: Reads;
  readonly registry: Registry;
  readonly now: () => Date;
}

export class Writes {
  readonly #deps: WriteDeps;

  constructor(deps: WriteDeps) {
    this.#deps = deps;
  }

  create(path: ResourcePath, request: WriteRequest, body: Json): KubeObject {
    const { kind } = path;
    const options = parseWriteOptions('CreateOptions', request.query, request.userAgent, false);
    const object = inNamespace(receiveFrom(request, path, options, body), path);
    const fresh = withMeta(object, {
      uid: undefined,
      creationTimestamp: undefined,
      deletionTimestamp: undefined,
    });
    const created = kind.toStored(owned(this.#writer(path, options), undefined, fresh));
    return this.#deps.registry.create(kind, created, options.dryRun);
  }

  update(path: ResourcePath, request: WriteRequest, body: Json): Written {
    const { kind, subresource } = path;
    const options = parseWriteOptions('UpdateOptions', request.query, request.userAgent, false);
    const object = inNamespace(receiveFrom(request, path, options, body), path);
    const target = targetOf(path);
    const placed = identified(object, target);
    const writer = this.#writer(path, options);
    return this.#deps.registry.update({
      target,
      subresource,
      dryRun: options.dryRun,
      allowCreate: kind.createOnUpdate && subresource === '',
      ...(placed.metadata.uid ? { uid: placed.metadata.uid } : {}),
      change: (live) => kind.toStored(owned(writer, live && kind.fromStored(live), placed)),
    });
  }

  patch(path: ResourcePath, request: WriteRequest, type: PatchType, text: string): Written {
    const { kind, subresource } = path;
    const isApply = type === 'apply';
    const options = parseWriteOptions('PatchOptions', request.query, request.userAgent, isApply);
    const target = targetOf(path);
    const writer = this.#writer(path, options);
    return this.#deps.registry.update({
      target,
      subresource,
      dryRun: options.dryRun,
      allowCreate: isApply && subresource === '',
      change: (stored) => {
        const live = stored && kind.fromStored(stored);
        // Only an apply creates: for other patches the registry has already answered 404.
        const { object, warnings }: Received = isApply
          ? { object: applied(writer, text, live, options.force), warnings: [] }
          : patched(writer, type, text, live ?? emptyObject(kind), options.fieldValidation);
        const deduplicated = dedupOwnerReferences(object, ' after mutating admission happens');
        request.warn([...warnings, ...deduplicated.warnings]);
        return kind.toStored(identified(inNamespace(deduplicated.object, path), target));
      },
    });
  }

  /** `body` is undefined when the request had none. */
  delete(path: ResourcePath, request: WriteRequest, body: JsonObject | undefined): Deletion {
    return this.#deps.registry.delete(targetOf(path), parseDeleteOptions(body, request.query));
  }

  /** Returns what it deleted, or began to delete. */
  deleteCollection(path: ResourcePath, request: WriteRequest, body: JsonObject | undefined): Selected {
    const { kind } = path;
    const options = parseDeleteOptions(body, request.query);
    const selected = this.#deps.reads.list(path, request.query);
    for (const { metadata } of selected.objects) {
      const { namespace, name } = metadata;
      this.#deps.registry.delete({ kind, namespace, name }, options);
    }
    return selected;
  }

  #writer({ kind, subresource }: ResourcePath, { fieldManager }: WriteOptions): Writer {
    return { kind, subresource, fieldManager, now: timeOf(this.#deps.now()) };
  }
}

function receiveFrom(
  request: WriteRequest,
  { kind }: ResourcePath,
  { fieldValidation }: WriteOptions,
  body: Json,
): KubeObject {
  const { object, warnings } = receive(kind, body, fieldValidation);
  const deduplicated = dedupOwnerReferences(object);
  request.warn([...warnings, ...deduplicated.warnings]);
  return deduplicated.object;
}

/** The object in the namespace of the path. Throws when its own namespace is another. */
function inNamespace(object: KubeObject, { kind, namespace }: ResourcePath): KubeObject {
  if (!kind.namespaced) return withMeta(object, { namespace: undefined });
  if (object.metadata.namespace && object.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return withMeta(object, { namespace });
}

/** The object itself. Throws when its name is not that of the path. */
function identified(object: KubeObject, { name }: Target): KubeObject {
  if (!object.metadata.name) {
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (object.metadata.name === name) return object;
  throw badRequest(
    `the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`,
  );
}
