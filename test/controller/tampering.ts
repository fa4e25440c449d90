import { isInvalid, isNotFound } from '../../src/kube/errors.ts';
import type { Tampering } from './history.ts';
import type { World } from './world.ts';

/** Changes the companion at `key` (short) by hand, if there is one. */
export async function tamper(world: World, key: string, how: Tampering): Promise<void> {
  const { domain, person } = world;
  const full = world.full(key);
  if (how === 'delete it') return person.delete(full);
  // A patch of a missing object is refused.
  await person.patch(full, patchFor(how, domain, world.full('home/two'))).catch((error: unknown) => {
    if (!isRefused(error)) throw error;
  });
}

function patchFor(how: Exclude<Tampering, 'delete it'>, domain: string, otherSource: string): object {
  const labels = (entries: object) => ({ metadata: { labels: entries } });
  const annotations = (entries: object) => ({ metadata: { annotations: entries } });
  switch (how) {
    case 'change data':
      return { data: { k1: 'tampered' } };
    case 'add a key':
      return { data: { extra: 'tampered' } };
    case 'drop data':
      return { data: null };
    case 'add binaryData':
      return { binaryData: { extra: 'AAAA' } };
    case 'forge the checksum':
      return annotations({ [`${domain}/source-checksum`]: 'f'.repeat(64) });
    case 'drop the owner':
      return { metadata: { ownerReferences: null } };
    case 'drop the convention label':
      return labels({ 'app.kubernetes.io/managed-by': null });
    case 'make it immutable':
      return { immutable: true };
    case 'add foreign metadata':
      return { metadata: { labels: { foreign: 'yes' }, annotations: { foreign: 'yes' } } };
    case 'label it as a source':
      return labels({ [`${domain}/managed`]: 'true' });
    case 'drop its label':
      return labels({ [`${domain}/managed`]: null });
    case 'drop its source':
      return annotations({ [`${domain}/source`]: null });
    case 'drop its uid':
      return annotations({ [`${domain}/source-uid`]: null });
    case 'drop its self':
      return annotations({ [`${domain}/companion`]: null });
    case 'name another source':
      return annotations({ [`${domain}/source`]: otherSource });
  }
}

/** There is no such companion, or it is immutable. */
function isRefused(error: unknown): boolean {
  return isNotFound(error) || isInvalid(error);
}
