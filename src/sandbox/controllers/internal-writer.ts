import { decodeAs } from '../kinds/decode-as.ts';
import type { Kind, Subresource } from '../kinds/kinds.ts';
import { type KubeObject, toJson } from '../objects/kube-object.ts';
import { owned } from '../patch/ownership.ts';
import { timeOf } from '../schema/scalars.ts';
import type { Registry } from '../storage/registry.ts';

/** Field manager of the controllers' writes, as on a real server. */
const FIELD_MANAGER = 'kube-controller-manager';

/** Writes of the sandbox's own controllers. They do not appear in the request counts. */
export class InternalWriter {
  readonly #registry: Registry;
  readonly #now: () => Date;

  constructor(registry: Registry, now: () => Date) {
    this.#registry = registry;
    this.#now = now;
  }

  /** RFC 3339. */
  timestamp(): string {
    return timeOf(this.#now());
  }

  /** Changes `object`, which is in stored form. Does nothing when nothing changes. */
  update(
    kind: Kind,
    object: KubeObject,
    subresource: Subresource,
    change: (live: KubeObject) => KubeObject,
  ): void {
    const { namespace, name } = object.metadata;
    const writer = { kind, subresource, fieldManager: FIELD_MANAGER, now: this.timestamp() };
    this.#registry.update({
      target: { kind, namespace, name },
      subresource,
      dryRun: false,
      allowCreate: false,
      change: (live = object) => owned(writer, live, decodeAs(kind, toJson(change(live))).object),
    });
  }
}
