import type { Cast } from './cast.ts';
import { manyNamespaces } from './many-namespaces.ts';
import { oneNamespace } from './one-namespace.ts';
import type { Chapter } from './step.ts';

/** The workshop. */
export function scriptFor(cast: Cast): readonly Chapter[] {
  return [oneNamespace(cast), manyNamespaces(cast)];
}
