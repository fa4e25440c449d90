import type { ObjectMeta } from '../../kube/api/types.ts';
import { type Parsed, problem, quoted } from '../parsed.ts';
import { matchesGlobs, matchesNothing } from '../request/patterns.ts';
import { type MirrorRequest, parseRequest } from '../request/request.ts';
import type { Vocabulary } from '../vocabulary.ts';
import { type Content, isEmpty, keysIn, selectContent, selectKeys } from './content.ts';
import { MOST_PLACEHOLDERS, placeholdersIn } from './template-uses.ts';

/** What a source asks for. Its content may show that it cannot be meant: a typo (SPEC R13, V1). */
export function requestOf(
  { namespace = '', name, annotations = {} }: ObjectMeta,
  content: Content,
  vocabulary: Vocabulary,
): Parsed<MirrorRequest> {
  const request = parseRequest({ namespace, name, annotations }, vocabulary);
  if (!request.ok) return request;
  const found = selectionProblem(content, request.value, vocabulary);
  return found === undefined ? request : problem(found);
}

function selectionProblem(
  content: Content,
  request: MirrorRequest,
  vocabulary: Vocabulary,
): string | undefined {
  const selected = selectKeys(content, request);
  if (!isEmpty(content) && isEmpty(selected)) return emptySelectionProblem(content, request, vocabulary);
  if (request.renameKeys.size > 0) {
    const fault = renameProblem(keysIn(content), new Set(keysIn(selected)), request);
    if (fault !== undefined) return `${vocabulary.renameKeys}: ${fault}`;
  }
  if (matchesNothing(request.renderKeys)) return undefined;
  const { data } = selectContent(content, request);
  return placeholdersIn(data, request).size > MOST_PLACEHOLDERS
    ? `${vocabulary.renderKeys}: more than ${MOST_PLACEHOLDERS} different placeholders; split the source`
    : undefined;
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
