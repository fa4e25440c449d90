import { type ObjectKey, objectKey } from '../kube/api/object-key.ts';
import { DEFAULT_DOMAIN, type Vocabulary, vocabularyOf } from '../mirror/vocabulary.ts';

/** The namespaces that the second chapter creates. */
export const TEAMS = ['demo-team-a', 'demo-team-b', 'demo-team-c'] as const;
/** A namespace where the companion's name is taken. */
export const GUEST = 'demo-guest';

/**
 * The brake of the demo's controller: more deletions than the steps before it need, so that it
 * holds only what it should.
 */
export const DELETE_BRAKE = 4;

/** Under which names the workshop is played. */
export interface Setting {
  readonly vocabulary: Vocabulary;
  /** The source's namespace. It exists before the first step. */
  readonly home: string;
  readonly source: ObjectKey;
  /** The companion beside the source. */
  readonly companion: ObjectKey;
}

/** The sandbox serves the demo alone, so the names are those of the documentation. */
export const SANDBOX_SETTING = settingOf(DEFAULT_DOMAIN, 'default');

/**
 * In a real cluster the demo's controller has labels of its own: it sees nothing of what is
 * mirrored there, and no controller that runs there sees anything of the demo.
 */
export const CLUSTER_SETTING = settingOf(`demo.${DEFAULT_DOMAIN}`, 'mirror-demo');

function settingOf(domain: string, home: string): Setting {
  const source = objectKey(home, 'colors');
  return { vocabulary: vocabularyOf(domain), home, source, companion: companionIn(home) };
}

export function companionIn(namespace: string): ObjectKey {
  return objectKey(namespace, 'colors-synced');
}

/** Every namespace that the demo uses. */
export function namespacesOf({ home }: Setting): readonly string[] {
  return [home, ...TEAMS, GUEST];
}
