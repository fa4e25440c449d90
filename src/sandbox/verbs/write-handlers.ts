/** The verbs that change: create, update, patch, delete and deletecollection. */
import { formOf } from '../http/answer-form.ts';
import type { Exchange } from '../http/http-exchange.ts';
import type { Renderer } from '../http/render.ts';
import { parseBody, receive, receiveDeleteOptions } from '../http/request-body.ts';
import type { ResourcePath } from '../http/request-info.ts';
import { dedupOwnerReferences } from '../kinds/owner-references.ts';
import type { JsonObject } from '../objects/json.ts';
import { type KubeObject, withMeta } from '../objects/kube-object.ts';
import { badRequest } from '../objects/status.ts';
import { timeOf } from '../schema/scalars.ts';
import { type Registry, type Target, targetOf } from '../storage/registry.ts';
import { applied } from './applying.ts';
import { parseDeleteOptions } from './delete-options.ts';
import { parseListOptions } from './list-options.ts';
import {
  emptyObject,
  owned,
  type Patched,
  type PatchType,
  patched,
  patchTypeOf,
  type Writer,
} from './patching.ts';
import type { ReadHandlers } from './read-handlers.ts';
import { parseWriteOptions } from './write-options.ts';

export interface WriteDeps {
  readonly reads: ReadHandlers;
  readonly registry: Registry;
  readonly renderer: Renderer;
  readonly now: () => Date;
}

export class WriteHandlers {
  readonly #deps: WriteDeps;

  constructor(deps: WriteDeps) {
    this.#deps = deps;
  }

  async create(exchange: Exchange, path: ResourcePath): Promise<void> {
    const { kind } = path;
    const form = formOf(exchange, kind);
    const body = parseBody(kind.schema, await exchange.body(), exchange.contentType);
    const options = parseWriteOptions('CreateOptions', exchange.query, exchange.userAgent, false);
    const { object, warnings } = receive(kind, body, options.fieldValidation);
    exchange.warn(warnings);
    const deduplicated = dedupOwnerReferences(object);
    exchange.warn(deduplicated.warnings);
    const placed = inNamespace(deduplicated.object, path);
    const fresh = withMeta(placed, {
      uid: undefined,
      creationTimestamp: undefined,
      deletionTimestamp: undefined,
    });
    const writer: Writer = { kind, subresource: '', options, now: this.#timestamp() };
    const created = this.#deps.registry.create(
      kind,
      kind.toStored(owned(writer, undefined, fresh)),
      options.dryRun,
    );
    exchange.answer(201, this.#deps.renderer.object(form, created));
  }

  async update(exchange: Exchange, path: ResourcePath): Promise<void> {
    const { kind, subresource } = path;
    const form = formOf(exchange, kind);
    const body = parseBody(kind.schema, await exchange.body(), exchange.contentType);
    const options = parseWriteOptions('UpdateOptions', exchange.query, exchange.userAgent, false);
    const { object, warnings } = receive(kind, body, options.fieldValidation);
    exchange.warn(warnings);
    const target = targetOf(path);
    const deduplicated = dedupOwnerReferences(object);
    exchange.warn(deduplicated.warnings);
    const placed = identified(inNamespace(deduplicated.object, path), target);
    const writer: Writer = { kind, subresource, options, now: this.#timestamp() };
    const result = this.#deps.registry.update({
      target,
      subresource,
      dryRun: options.dryRun,
      allowCreate: kind.createOnUpdate && subresource === '',
      ...(placed.metadata.uid ? { uid: placed.metadata.uid } : {}),
      change: (live) => kind.toStored(owned(writer, live && kind.fromStored(live), placed)),
    });
    exchange.answer(result.created ? 201 : 200, this.#deps.renderer.object(form, result.object));
  }

  async patch(exchange: Exchange, path: ResourcePath): Promise<void> {
    const { kind, subresource } = path;
    const type = patchTypeOf(exchange.contentType);
    const form = formOf(exchange, kind);
    const text = (await exchange.body()).toString();
    const isApply = type === 'apply';
    const options = parseWriteOptions('PatchOptions', exchange.query, exchange.userAgent, isApply);
    const target = targetOf(path);
    const writer: Writer = { kind, subresource, options, now: this.#timestamp() };
    const result = this.#deps.registry.update({
      target,
      subresource,
      dryRun: options.dryRun,
      allowCreate: isApply && subresource === '',
      change: (live) => {
        const { object, warnings } = changedByPatch(writer, type, text, live && kind.fromStored(live));
        const deduplicated = dedupOwnerReferences(object, ' after mutating admission happens');
        exchange.warn([...warnings, ...deduplicated.warnings]);
        return kind.toStored(identified(inNamespace(deduplicated.object, path), target));
      },
    });
    exchange.answer(result.created ? 201 : 200, this.#deps.renderer.object(form, result.object));
  }

  async delete(exchange: Exchange, path: ResourcePath): Promise<void> {
    const { kind } = path;
    const form = formOf(exchange, kind);
    const options = parseDeleteOptions(await deleteBody(exchange), exchange.query);
    const { object, deleted } = this.#deps.registry.delete(targetOf(path), options);
    if (!deleted) {
      exchange.answer(200, this.#deps.renderer.object(form, object));
      return;
    }
    const details = {
      name: object.metadata.name,
      ...(kind.group === '' ? {} : { group: kind.group }),
      kind: kind.resource,
      uid: object.metadata.uid,
    };
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
    exchange.answer(200, JSON.stringify(status));
  }

  async deleteCollection(exchange: Exchange, path: ResourcePath): Promise<void> {
    const { kind } = path;
    const form = formOf(exchange, kind);
    const options = parseDeleteOptions(await deleteBody(exchange), exchange.query);
    const { objects, meta } = this.#deps.reads.select(path, parseListOptions(kind, exchange.query, path));
    for (const object of objects) {
      const { namespace, name } = object.metadata;
      this.#deps.registry.delete({ kind, namespace, name }, options);
    }
    exchange.answer(200, this.#deps.renderer.list(form, objects, meta));
  }

  #timestamp(): string {
    return timeOf(this.#deps.now());
  }
}

function changedByPatch(
  writer: Writer,
  type: PatchType,
  text: string,
  live: KubeObject | undefined,
): Patched {
  if (type === 'apply') return { object: applied(writer, text, live), warnings: [] };
  // Only an apply creates: for the others the registry has answered 404 before.
  return patched(writer, type, text, live ?? emptyObject(writer.kind));
}

async function deleteBody(exchange: Exchange): Promise<JsonObject | undefined> {
  const bytes = await exchange.body();
  return bytes.length === 0 ? undefined : receiveDeleteOptions(bytes, exchange.contentType);
}

/** The object in the namespace of the path, which its own must not contradict. */
function inNamespace(object: KubeObject, { kind, namespace }: ResourcePath): KubeObject {
  if (!kind.namespaced) return withMeta(object, { namespace: undefined });
  if (object.metadata.namespace && object.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  return withMeta(object, { namespace });
}

/** The object, which must have the name of the path. */
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
