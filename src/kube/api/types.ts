/**
 * The few Kubernetes objects that we read and write, as they are on the wire: times are strings.
 * The client library's models turn times into `Date` and drop unknown fields (docs/adr/0001).
 */

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: string;
  readonly time?: string;
}

export interface ObjectMeta {
  readonly name: string;
  /** Absent on cluster-scoped objects. */
  readonly namespace?: string;
  readonly uid: string;
  /** Opaque, except for equality and the order of two versions of one kind (KEP-5504). */
  readonly resourceVersion: string;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

export interface KubeObject {
  readonly metadata: ObjectMeta;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  /** Values are base64, as on the wire. */
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

/** A ConfigMap to create. */
export interface NewConfigMap extends Pick<ConfigMap, 'data' | 'binaryData' | 'immutable'> {
  readonly metadata: Pick<ObjectMeta, 'name' | 'labels' | 'annotations' | 'ownerReferences'> & {
    readonly namespace: string;
  };
}

/**
 * A strategic merge patch: what is absent stays as it is, `null` removes an entry, and the
 * directive `$patch: replace` beside entries makes them replace what is there.
 * https://github.com/kubernetes/community/blob/main/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 */
export interface ConfigMapPatch extends Pick<ConfigMap, 'binaryData'> {
  readonly data?: Readonly<Record<string, string | null>>;
  readonly metadata: {
    /** The API server answers 409 unless the object has this version. */
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string | null>>;
    readonly annotations?: Readonly<Record<string, string | null>>;
    readonly ownerReferences?: readonly (OwnerReference | { readonly $patch: 'replace' })[];
  };
}

export interface Namespace extends KubeObject {
  readonly status?: { readonly phase?: string };
}

export interface Lease extends KubeObject {
  readonly spec?: LeaseSpec;
}

/** Times are RFC 3339 with microseconds. It may have been edited: any field may be absent. */
export interface LeaseSpec {
  /** Empty: not held. */
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  /** How often the holder has changed. */
  readonly leaseTransitions?: number;
}
