import { type Parsed, parsed, problem, quoted } from '../parsed.ts';
import type { StringMap, Vocabulary } from '../vocabulary.ts';
import { parseDuration } from './duration.ts';
import { parseLabelSelector } from './label-selector.ts';
import { includesNothing, parseNamespacePatterns } from './patterns.ts';
import { BadAnnotation, readAnnotation } from './read-annotation.ts';
import { NO_NAMESPACES, type Targets } from './targets.ts';

/** How a source wants new content to reach its companions (SPEC D4-D6). */
export interface RolloutRequest {
  /** Earlier contents to keep; 0: none. */
  readonly keepRevisions: number;
  /** Short checksum of the content that companions hold instead of the source's. */
  readonly pin: string | undefined;
  readonly canary: CanaryRequest | undefined;
}

export interface CanaryRequest {
  /** The namespaces that get new content first. */
  readonly namespaces: Targets;
  /** Time (ms) for which all canaries hold it; undefined: until it is approved. */
  readonly bakeMs: number | undefined;
  /** Short checksum of a content that may go everywhere at once. */
  readonly approved: string | undefined;
}

/** Each is a ConfigMap in the source's namespace, read whenever its source is planned. */
const MOST_REVISIONS = 100;
/** `-rev-` and the short checksum follow, in at most 253 characters. */
export const LONGEST_SOURCE_NAME = 240;
const DEFAULT_BAKE_MS = 600_000;

/** Undefined if the source says nothing of it. @throws BadAnnotation */
export function parseRollout(
  { name, annotations }: { readonly name: string; readonly annotations: StringMap },
  vocabulary: Vocabulary,
): RolloutRequest | undefined {
  const keepRevisions = readAnnotation(annotations, vocabulary.keepRevisions, parseKeepRevisions) ?? 0;
  const pin = readAnnotation(annotations, vocabulary.pin, parseShortChecksum);
  const namespaces = readAnnotation(annotations, vocabulary.canary, parseCanary);
  const bake = readAnnotation(annotations, vocabulary.canaryBake, parseBake) ?? { ms: DEFAULT_BAKE_MS };
  const approved = readAnnotation(annotations, vocabulary.canaryApprove, parseShortChecksum);
  if (keepRevisions > 0 && name.length > LONGEST_SOURCE_NAME) {
    throw new BadAnnotation(
      `${vocabulary.keepRevisions}: the source's name has ${name.length} characters, and revisions allow at most ${LONGEST_SOURCE_NAME}; ` +
        'shorten it, or remove the annotation',
    );
  }
  if (namespaces !== undefined && keepRevisions === 0) {
    throw new BadAnnotation(
      `${vocabulary.keepRevisions}: missing, and ${vocabulary.canary} needs the previous content; write how many to keep, such as "5"`,
    );
  }
  if (keepRevisions === 0 && pin === undefined) return undefined;
  const canary = namespaces && { namespaces, bakeMs: bake.ms, approved };
  return { keepRevisions, pin, canary };
}

function parseKeepRevisions(text: string): Parsed<number> {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= MOST_REVISIONS
    ? parsed(count)
    : problem(
        `${quoted(text)} is not a number from 1 to ${MOST_REVISIONS}; remove the annotation to keep none`,
      );
}

function parseShortChecksum(text: string): Parsed<string> {
  return /^[0-9a-f]{8}$/.test(text)
    ? parsed(text)
    : problem(
        `${quoted(text)} is not the beginning of a checksum (8 of 0-9 and a-f); the command history lists them`,
      );
}

/** A list if every item may be a namespace, else a label selector. */
function parseCanary(text: string): Parsed<Targets> {
  const list = parseNamespacePatterns(text, { exclusions: true });
  if (list.ok) {
    return includesNothing(list.value)
      ? problem('names no namespace; write for example "team-a, qa-*" or "env in (dev)"')
      : parsed({ patterns: list.value, selector: undefined });
  }
  const selector = parseLabelSelector(text);
  if (selector.ok) return parsed({ patterns: NO_NAMESPACES, selector: selector.value });
  // Only for the advice.
  const isSelector = /[=<>()]|\s(not)?in\s/.test(text);
  return isSelector ? selector : list;
}

function parseBake(text: string): Parsed<{ readonly ms: number | undefined }> {
  if (text === 'manual') return parsed({ ms: undefined });
  const duration = parseDuration(text);
  return duration.ok ? duration : problem(`${duration.problem}, or "manual"`);
}
