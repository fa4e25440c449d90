import { pick } from './content.ts';
import { type KeyGlobs, matchesGlobs, matchesNothing } from './patterns.ts';
import type { MirrorRequest } from './request.ts';
import type { Vocabulary } from './vocabulary.ts';

type StringMap = Readonly<Record<string, string>>;

/** Labels and annotations that a companion takes over from its source. */
export interface CopiedMetadata {
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

/** The keys of what was copied, as the companion lists them (SPEC M7), to know later what to take away. */
export interface CopiedKeys {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

const NOTHING: CopiedKeys = { labels: [], annotations: [] };
const NO_ENTRIES: StringMap = {};

// The tracking metadata of tools that would take a companion for their own object and prune it (SPEC M7).
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

/** The companion's list of what was copied; undefined when that is nothing, so that no annotation is needed. */
export function formatCopiedKeys(copied: CopiedMetadata): string | undefined {
  const labels = Object.keys(copied.labels).sort();
  const annotations = Object.keys(copied.annotations).sort();
  if (labels.length + annotations.length === 0) return undefined;
  return JSON.stringify({ labels, annotations } satisfies CopiedKeys);
}

/** Reads {@link formatCopiedKeys}, each key once. What is not ours to remove, or not in that form, is not in the result. */
export function parseCopiedKeys(text: string | undefined, vocabulary: Vocabulary): CopiedKeys {
  if (text === undefined) return NOTHING;
  try {
    const value: unknown = JSON.parse(text);
    return {
      labels: keysIn(value, 'labels', vocabulary),
      annotations: keysIn(value, 'annotations', vocabulary),
    };
  } catch {
    return NOTHING;
  }
}

function keysIn(value: unknown, field: keyof CopiedKeys, vocabulary: Vocabulary): readonly string[] {
  const list = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : [];
  if (!Array.isArray(list)) return [];
  const keys = list.filter((key): key is string => typeof key === 'string' && mayCopy(key, vocabulary));
  return [...new Set(keys)];
}
