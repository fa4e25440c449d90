import { pick } from '../observe/content.ts';
import { type KeyGlobs, matchesGlobs, matchesNothing } from '../request/patterns.ts';
import type { MirrorRequest } from '../request/request.ts';
import type { StringMap, Vocabulary } from '../vocabulary.ts';

/** Labels and annotations that a companion copies from its source. */
export interface CopiedMetadata {
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

/** The keys of what was copied. The companion lists them, to know what to remove (SPEC M7). */
export interface CopiedKeys {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

const NOTHING: CopiedKeys = { labels: [], annotations: [] };
const NO_ENTRIES: StringMap = {};

// Tools recognize their own objects by these, and would prune the companion (SPEC M7).
const NEVER_COPIED_PREFIXES = [
  'kubectl.kubernetes.io/',
  'argocd.argoproj.io/',
  'meta.helm.sh/',
  'helm.toolkit.fluxcd.io/',
  'kustomize.toolkit.fluxcd.io/',
];
const NEVER_COPIED_KEYS = ['app.kubernetes.io/instance', 'app.kubernetes.io/managed-by'];

export function mayCopy(key: string, vocabulary: Vocabulary): boolean {
  return (
    !key.startsWith(`${vocabulary.domain}/`) &&
    !NEVER_COPIED_KEYS.includes(key) &&
    !NEVER_COPIED_PREFIXES.some((prefix) => key.startsWith(prefix))
  );
}

export function copiedMetadata(
  source: { readonly labels: StringMap; readonly annotations: StringMap },
  request: MirrorRequest,
  vocabulary: Vocabulary,
): CopiedMetadata {
  const asked = (entries: StringMap, globs: KeyGlobs) =>
    matchesNothing(globs)
      ? NO_ENTRIES
      : pick(entries, (key) => matchesGlobs(globs, key) && mayCopy(key, vocabulary));
  return {
    labels: asked(source.labels, request.copyLabels),
    annotations: asked(source.annotations, request.copyAnnotations),
  };
}

/** The companion's list of what was copied; undefined when nothing was. */
export function formatCopiedKeys(copied: CopiedMetadata): string | undefined {
  const labels = Object.keys(copied.labels).sort();
  const annotations = Object.keys(copied.annotations).sort();
  if (labels.length + annotations.length === 0) return undefined;
  return JSON.stringify({ labels, annotations } satisfies CopiedKeys);
}

/**
 * Reads what {@link formatCopiedKeys} wrote. It may have been edited, so anything malformed,
 * duplicate or never copied is left out.
 */
export function parseCopiedKeys(text: string | undefined, vocabulary: Vocabulary): CopiedKeys {
  if (text === undefined) return NOTHING;
  try {
    const { labels, annotations } = JSON.parse(text) as Readonly<Record<keyof CopiedKeys, unknown>>;
    return { labels: copyable(labels, vocabulary), annotations: copyable(annotations, vocabulary) };
  } catch {
    return NOTHING;
  }
}

function copyable(list: unknown, vocabulary: Vocabulary): readonly string[] {
  if (!Array.isArray(list)) return [];
  const keys = list.filter((key): key is string => typeof key === 'string' && mayCopy(key, vocabulary));
  return [...new Set(keys)];
}
