import { matchesGlobs, matchesNothing } from '../request/patterns.ts';
import { parseTemplate, placeholderOf } from '../request/placeholders.ts';
import type { MirrorRequest } from '../request/request.ts';
import type { StringMap } from '../vocabulary.ts';

/** What the content of a source's companions depends on, beside the source (SPEC V2). */
export interface TemplateUses {
  /** Keys of labels of the target namespace; `any`: its revisions may use others (SPEC D4). */
  readonly labels: readonly string[] | 'any';
  /** Whether the ConfigMaps that `values-from` names are used. */
  readonly values: boolean;
}

/** Most different placeholders of one source. Each is resolved in every namespace. */
export const MOST_PLACEHOLDERS = 1000;
/** 253 characters of prefix, a slash and 63 of name: nothing longer is the key of a label. */
const LONGEST_LABEL_KEY = 317;

/** The different placeholders in the keys to render. `data`: under the companion's keys. */
export function placeholdersIn(
  data: StringMap,
  { renderKeys }: Pick<MirrorRequest, 'renderKeys'>,
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [key, text] of Object.entries(data)) {
    if (!matchesGlobs(renderKeys, key)) continue;
    for (const name of parseTemplate(text).placeholders) names.add(name);
  }
  return names;
}

const ANY: TemplateUses = { labels: 'any', values: true };

/** Undefined: there is nothing to render. */
export function templateUses(
  placeholders: ReadonlySet<string>,
  { renderKeys, rollout }: MirrorRequest,
): TemplateUses | undefined {
  const usesRevisions = rollout?.pin !== undefined || rollout?.canary !== undefined;
  if (usesRevisions && !matchesNothing(renderKeys)) return ANY;
  if (placeholders.size === 0) return undefined;
  const labels: string[] = [];
  let values = false;
  for (const name of placeholders) {
    const placeholder = placeholderOf(name);
    if (placeholder.kind === 'value') values = true;
    if (placeholder.kind !== 'label' || placeholder.key.length > LONGEST_LABEL_KEY) continue;
    // A part of a text keeps all of it in memory (V8's sliced strings), so it is copied.
    labels.push(Buffer.from(placeholder.key).toString());
  }
  return { labels, values };
}
