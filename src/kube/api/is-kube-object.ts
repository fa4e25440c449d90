import type { KubeObject } from './types.ts';

/** Whether it has what every stored object has. A Status, or the JSON of a proxy, does not. */
export function isKubeObject(value: unknown): value is KubeObject {
  const metadata = (value as Partial<KubeObject> | null | undefined)?.metadata;
  return typeof metadata?.resourceVersion === 'string' && metadata.resourceVersion !== '';
}
