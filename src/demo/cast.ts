import { type ObjectKey, objectKey } from '../kube/api/object-key.ts';
import { DEFAULT_DOMAIN, type Vocabulary, vocabularyOf } from '../mirror/vocabulary.ts';

/** The namespaces that the second chapter creates. */
export const TEAMS = ['demo-team-a', 'demo-team-b', 'demo-team-c'] as const;
/** One whose owner has other plans. */
export const GUEST = 'demo-guest';

/** Where the workshop plays, and with which labels. */
export interface Setting {
  /** Prefix of every label and annotation. */
  readonly domain: string;
  /** The source's namespace. It is there before the first step. */
  readonly home: string;
}

/** In the sandbox nobody else is to be taken care of: the names are those of the documentation. */
export const SANDBOX_SETTING: Setting = { domain: DEFAULT_DOMAIN, home: 'default' };

/**
 * In a real cluster the demo's controller has labels of its own: it sees nothing of what is mirrored there, and no
 * controller that runs there sees anything of the demo.
 */
export const CLUSTER_SETTING: Setting = { domain: `demo.${DEFAULT_DOMAIN}`, home: 'mirror-demo' };

/** Who appears in the workshop. */
export interface Cast {
  readonly vocabulary: Vocabulary;
  readonly home: string;
  readonly source: ObjectKey;
  /** Beside the source. */
  readonly companion: ObjectKey;
  readonly companionIn: (namespace: string) => ObjectKey;
}

export function castOf({ domain, home }: Setting): Cast {
  const companionIn = (namespace: string) => objectKey(namespace, 'colors-synced');
  return {
    vocabulary: vocabularyOf(domain),
    home,
    source: objectKey(home, 'colors'),
    companion: companionIn(home),
    companionIn,
  };
}
