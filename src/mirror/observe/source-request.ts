import type { ObjectMeta } from '../../kube/api/types.ts';
import { type Parsed, parsed, problem, quoted } from '../parsed.ts';
import { matchesGlobs, matchesNothing } from '../request/patterns.ts';
import { type MirrorRequest, parseRequest } from '../request/request.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { type Content, isEmpty, keysIn, renameKeys, selectKeys } from './content.ts';
import { MOST_PLACEHOLDERS, placeholdersIn, type TemplateUses, templateUses } from './template-uses.ts';

/** What a source asks for, by its annotations and its content. */
export interface SourceRequest extends MirrorRequest {
  /** Undefined: there is nothing to render. */
  readonly uses: TemplateUses | undefined;
}

/**
 * What a source asks for, and which content it asks to copy: all of it if it is invalid. The
 * content may show that the annotations cannot be meant: a typo (SPEC R13, V1).
 */
export function readSource(
  { namespace = '', name, annotations = {} }: ObjectMeta,
  content: Content,
  vocabulary: Vocabulary,
): { readonly request: Parsed<SourceRequest>; readonly copied: Content } {
  const invalid = (request: Parsed<never>) => ({ request, copied: content });
  const asked = parseRequest({ namespace, name, annotations }, vocabulary);
  if (!asked.ok) return invalid(asked);
  const selected = selectKeys(content, asked.value);
  const found = selectionProblem(content, selected, asked.value, vocabulary);
  if (found !== undefined) return invalid(problem(found));
  const copied = renameKeys(selected, asked.value);
  const request = withUses(asked.value, copied, vocabulary);
  return request.ok ? { request, copied } : invalid(request);
}

function withUses(
  request: MirrorRequest,
  { data }: Content,
  { renderKeys }: Vocabulary,
): Parsed<SourceRequest> {
  if (matchesNothing(request.renderKeys)) return parsed(using(undefined, request));
  const placeholders = placeholdersIn(data, request);
  return placeholders.size > MOST_PLACEHOLDERS
    ? problem(`${renderKeys}: more than ${MOST_PLACEHOLDERS} different placeholders; split the source`)
    : parsed(using(templateUses(placeholders, request), request));
}

/**
 * The spread comes last. After `{ ...request, uses }` Node 20 gives every request a hidden class of
 * its own: 400 bytes for each source, and slower reads of its properties ever after.
 */
function using(uses: TemplateUses | undefined, request: MirrorRequest): SourceRequest {
  return { uses, ...request };
}

function selectionProblem(
  content: Content,
  selected: Content,
  request: MirrorRequest,
  vocabulary: Vocabulary,
): string | undefined {
  if (!isEmpty(content) && isEmpty(selected)) return emptySelectionProblem(content, request, vocabulary);
  if (request.renameKeys.size === 0) return undefined;
  const fault = renameProblem(keysIn(content), new Set(keysIn(selected)), request);
  return fault === undefined ? undefined : `${vocabulary.renameKeys}: ${fault}`;
}

function emptySelectionProblem(
  content: Content,
  { includeKeys }: MirrorRequest,
  vocabulary: Vocabulary,
): string {
  return includeKeys !== undefined && !keysIn(content).some((key) => matchesGlobs(includeKeys, key))
    ? `${vocabulary.includeKeys}: matches no key of the source; name keys that it has, or remove the annotation to copy all`
    : `${vocabulary.excludeKeys}: leaves no key to copy; exclude fewer keys, or remove the annotation`;
}

function renameProblem(
  all: readonly string[],
  selected: ReadonlySet<string>,
  { renameKeys }: MirrorRequest,
): string | undefined {
  for (const [from, to] of renameKeys) {
    if (!selected.has(from)) {
      return all.includes(from)
        ? `${quoted(from)} is not among the keys that include-keys and exclude-keys select; select it, or do not rename it`
        : `the source has no key ${quoted(from)}; name a key that it has`;
    }
    if (selected.has(to) && !renameKeys.has(to)) {
      return `${quoted(from)} cannot become ${quoted(to)}, because a key of that name is copied too; exclude or rename it`;
    }
  }
  return undefined;
}
