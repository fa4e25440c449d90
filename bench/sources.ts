import { randomBytes } from 'node:crypto';
import type { ConfigMapBody, Load } from './load.ts';

/** Of labels and annotations, unless one says otherwise. */
export const DOMAIN = 'workshop.io';
const MANAGED = `${DOMAIN}/managed`;
const TARGETS = `${DOMAIN}/target-namespaces`;
export const CHECKSUM = `${DOMAIN}/source-checksum`;

/** Data of about `bytes` bytes that does not compress better than text does. */
function data(bytes: number): Readonly<Record<string, string>> {
  const part = () => randomBytes(Math.max(1, Math.floor(bytes / 6))).toString('hex');
  return { version: '0', 'app.yaml': part(), 'log.yaml': part(), 'more.yaml': part() };
}

/** A source of three keys and a version, beside which its companion belongs, or in the namespaces `targets`. */
export function source(namespace: string, name: string, bytes = 1024, targets?: string): ConfigMapBody {
  const body = sourceIn(DOMAIN, namespace, name, bytes);
  if (targets === undefined) return body;
  return { ...body, metadata: { ...body.metadata, annotations: asksFor(targets) } };
}

/** The annotations of a source whose companions go to these namespaces. */
export function asksFor(targets: string): Readonly<Record<string, string>> {
  return { [TARGETS]: targets };
}

/** A source for the controller whose labels are of `domain`. */
export function sourceIn(domain: string, namespace: string, name: string, bytes = 1024): ConfigMapBody {
  return { metadata: { namespace, name, labels: { [`${domain}/managed`]: 'true' } }, data: data(bytes) };
}

export function unrelated(namespace: string, name: string): ConfigMapBody {
  return { metadata: { namespace, name, labels: { app: 'something-else' } }, data: data(1024) };
}

/** What a controller would write: for the ceiling. */
export function companionLike(namespace: string, name: string): ConfigMapBody {
  return {
    metadata: {
      namespace,
      name: `${name}-synced`,
      labels: { [MANAGED]: 'companion', 'app.kubernetes.io/managed-by': 'nobody' },
      annotations: {
        [`${DOMAIN}/source`]: `${namespace}/${name}`,
        [`${DOMAIN}/source-uid`]: '00000000-0000-0000-0000-000000000000',
        [`${DOMAIN}/companion`]: `${namespace}/${name}-synced`,
        [CHECKSUM]: randomBytes(32).toString('hex'),
      },
    },
    data: data(1024),
  };
}

export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${prefix}${number}`);
}

/** Rejects unless every source of the namespace has a companion beside it that holds the same. */
export async function checkCompanions(load: Load, namespace: string): Promise<void> {
  const { items } = await load.list(namespace);
  const byName = new Map(items.map((item) => [item.metadata.name, item]));
  for (const { metadata, data: wanted } of items) {
    if (metadata.labels?.[MANAGED] !== 'true' || metadata.annotations?.[TARGETS] !== undefined) continue;
    const companion = byName.get(`${metadata.name}-synced`);
    if (companion === undefined || !sameData(companion.data, wanted)) {
      throw new Error(`the companion of ${namespace}/${metadata.name} is not as it should be`);
    }
  }
}

function sameData(a: ConfigMapBody['data'], b: ConfigMapBody['data']): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
