import { randomBytes } from 'node:crypto';
import type { ConfigMapBody, Load } from './load.ts';

const DOMAIN = 'workshop.io';
const MANAGED = `${DOMAIN}/managed`;
const TARGETS = `${DOMAIN}/target-namespaces`;

/** Label selector of all companions, for a query. */
export const COMPANIONS = encodeURIComponent(`${MANAGED}=companion`);

/** A merge patch that unlabels a source. */
export const UNLABEL = { metadata: { labels: { [MANAGED]: null } } };

/** Data of about `bytes` bytes that compresses no better than text. */
function data(bytes: number): Readonly<Record<string, string>> {
  const part = () => randomBytes(Math.max(1, Math.floor(bytes / 6))).toString('hex');
  return { version: '0', 'app.yaml': part(), 'log.yaml': part(), 'more.yaml': part() };
}

/** A source whose companion goes beside it, or into the namespaces `targets`. */
export function source(namespace: string, name: string, bytes = 1024, targets?: string): ConfigMapBody {
  const annotations = targets === undefined ? {} : targeting(targets);
  return {
    metadata: { namespace, name, labels: { [MANAGED]: 'true' }, annotations },
    data: data(bytes),
  };
}

/** The annotations of a source with these targets. */
export function targeting(targets: string): Readonly<Record<string, string>> {
  return { [TARGETS]: targets };
}

export function unrelated(namespace: string, name: string): ConfigMapBody {
  return { metadata: { namespace, name, labels: { app: 'something-else' } }, data: data(1024) };
}

/** Like the companions that controllers write, for measuring the API server alone. */
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
        [`${DOMAIN}/source-checksum`]: randomBytes(32).toString('hex'),
      },
    },
    data: data(1024),
  };
}

export function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${prefix}${number}`);
}

/** Rejects unless every source of the namespace has a companion beside it with the same data. */
export async function checkCompanions(load: Load, namespace: string): Promise<void> {
  const { items } = await load.list(namespace);
  const byName = new Map(items.map((item) => [item.metadata.name, item]));
  for (const { metadata, data: desired } of items) {
    if (metadata.labels?.[MANAGED] !== 'true' || metadata.annotations?.[TARGETS] !== undefined) continue;
    const companion = byName.get(`${metadata.name}-synced`);
    if (companion === undefined || !sameData(companion.data, desired)) {
      throw new Error(`the companion of ${namespace}/${metadata.name} is missing or differs`);
    }
  }
}

function sameData(a: ConfigMapBody['data'], b: ConfigMapBody['data']): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
