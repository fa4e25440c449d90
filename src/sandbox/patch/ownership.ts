import { emptyObject } from '../kinds/decode-as.ts';
import { apiVersionOf, type Kind, type Subresource } from '../kinds/kinds.ts';
import type { KubeObject } from '../objects/kube-object.ts';
import { entriesAfterUpdate, type Manager, withEntries } from './managed-fields.ts';

/** Who writes, in which version and through which subresource. */
export interface Writer {
  readonly kind: Kind;
  readonly subresource: Subresource;
  /** The name in managedFields. */
  readonly fieldManager: string;
  /** RFC 3339, for new managedFields entries. */
  readonly now: string;
}

export const managerOf = (
  { kind, subresource, fieldManager }: Writer,
  operation: Manager['operation'],
): Manager => ({
  name: fieldManager,
  operation,
  apiVersion: apiVersionOf(kind),
  subresource,
  resetFields: kind.resetFields(subresource),
});

/**
 * `after` with its managedFields once `writer` has replaced `before` (absent on create) by it. Both
 * are in the version of the request.
 */
export function owned(writer: Writer, before: KubeObject | undefined, after: KubeObject): KubeObject {
  const filled = writer.kind.canonicalize(after);
  const managedFields = entriesAfterUpdate(
    writer.kind.schema,
    before,
    filled,
    emptyObject(writer.kind),
    managerOf(writer, 'Update'),
    writer.now,
  );
  return withEntries(filled, managedFields);
}
