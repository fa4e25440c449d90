import { type ObjectKey, objectKey } from '../../kube/api/object-key.ts';
import { type Parsed, parsed, problem, quoted } from '../parsed.ts';
import type { StringMap, Vocabulary } from '../vocabulary.ts';
import { type Duration, parseDuration } from './duration.ts';
import { NO_RENAMES, parseRenameKeys, type Renames } from './key-renames.ts';
import { type LabelSelector, parseLabelSelector } from './label-selector.ts';
import { isObjectName, MAX_NAME_LENGTH } from './object-name.ts';
import {
  commaList,
  includesNothing,
  type KeyGlobs,
  type NamespacePatterns,
  parseKeyGlobs,
  parseNamespacePatterns,
} from './patterns.ts';
import { BadAnnotation, readAnnotation } from './read-annotation.ts';
import { parseRollout, type RolloutRequest } from './rollout-request.ts';
import { NO_NAMESPACES, type Targets } from './targets.ts';
import { parseValuesFrom } from './values-from.ts';

export type DeletionPolicy = 'delete' | 'retain';

/** What a source's annotations ask for. */
export interface MirrorRequest {
  /** Undefined: one companion, beside the source (SPEC M1). */
  readonly targets: Targets | undefined;
  readonly companionName: string;
  /** Undefined: every key. */
  readonly includeKeys: KeyGlobs | undefined;
  readonly excludeKeys: KeyGlobs;
  readonly renameKeys: Renames;
  /** Which keys of companions are rendered, by their names there (SPEC V2). */
  readonly renderKeys: KeyGlobs;
  /** Names of ConfigMaps beside the source; later ones win (SPEC V3). */
  readonly valuesFrom: readonly string[];
  readonly copyLabels: KeyGlobs;
  readonly copyAnnotations: KeyGlobs;
  readonly deletionPolicy: DeletionPolicy;
  /** How long a companion stays unwanted before it is deleted (SPEC D3); undefined: at once. */
  readonly deleteAfter: Duration | undefined;
  /** How long it must be quiet before new content is mirrored (SPEC D7); undefined: not at all. */
  readonly settle: Duration | undefined;
  /** Undefined: companions hold the source's content, and earlier contents are not kept. */
  readonly rollout: RolloutRequest | undefined;
}

/** A source, of which only this matters here. */
interface Asking {
  readonly namespace: string;
  readonly name: string;
  readonly annotations: StringMap;
}

const DEFAULT_COMPANION_NAME = '{name}-synced';
const NO_KEYS: KeyGlobs = { exact: new Set(), globs: [] };
const NO_VALUES: readonly string[] = [];

/**
 * Reads what a source asks for. One malformed annotation makes all of it invalid (SPEC R13). The
 * problem then begins with the annotation's key and says what to write.
 */
export function parseRequest(source: Asking, vocabulary: Vocabulary): Parsed<MirrorRequest> {
  const { annotations } = source;
  const read = <T>(key: string, parse: (text: string) => Parsed<T>) =>
    readAnnotation(annotations, key, parse);
  try {
    const targets = parseTargets(annotations, vocabulary);
    return parsed({
      targets,
      companionName: parseCompanionName(source, targets === undefined, vocabulary),
      includeKeys: read(vocabulary.includeKeys, parseIncludeKeys),
      excludeKeys: read(vocabulary.excludeKeys, parseDataKeys) ?? NO_KEYS,
      renameKeys: read(vocabulary.renameKeys, parseRenameKeys) ?? NO_RENAMES,
      renderKeys: read(vocabulary.renderKeys, parseRenderKeys) ?? NO_KEYS,
      valuesFrom: read(vocabulary.valuesFrom, parseValuesFrom) ?? NO_VALUES,
      copyLabels: read(vocabulary.copyLabels, parseMetadataKeys) ?? NO_KEYS,
      copyAnnotations: read(vocabulary.copyAnnotations, parseMetadataKeys) ?? NO_KEYS,
      deletionPolicy: read(vocabulary.deletionPolicy, parseDeletionPolicy) ?? 'delete',
      deleteAfter: read(vocabulary.deleteAfter, parseDuration),
      settle: read(vocabulary.settle, parseDuration),
      rollout: parseRollout(source, vocabulary),
    });
  } catch (error) {
    if (error instanceof BadAnnotation) return problem(error.message);
    throw error;
  }
}

function parseTargets(annotations: StringMap, vocabulary: Vocabulary): Targets | undefined {
  const patterns = readAnnotation(annotations, vocabulary.targetNamespaces, parseTargetNamespaces);
  const selector = readAnnotation(annotations, vocabulary.targetNamespaceSelector, parseNamespaceSelector);
  if (patterns === undefined && selector === undefined) return undefined;
  if (patterns && selector === undefined && includesNothing(patterns)) {
    throw new BadAnnotation(
      `${vocabulary.targetNamespaces}: only exclusions; include something too, such as "*", or remove the annotation`,
    );
  }
  return { patterns: patterns ?? NO_NAMESPACES, selector };
}

function parseTargetNamespaces(text: string): Parsed<NamespacePatterns> {
  return commaList(text).length === 0
    ? problem('empty; name namespaces, such as "team-a, team-*", or remove the annotation')
    : parseNamespacePatterns(text, { exclusions: true });
}

function parseNamespaceSelector(text: string): Parsed<LabelSelector> {
  return text.trim() === ''
    ? problem('empty; write a label selector, such as "env in (dev,qa)", or remove the annotation')
    : parseLabelSelector(text);
}

const parseIncludeKeys = (text: string) => parseSomeDataKeys(text, 'remove the annotation to copy all');
const parseRenderKeys = (text: string) => parseSomeDataKeys(text, 'remove the annotation');

/** At least one. `otherwise`: what else to do than to name some. */
function parseSomeDataKeys(text: string, otherwise: string): Parsed<KeyGlobs> {
  return commaList(text).length === 0
    ? problem(`empty; name keys, such as "app.yaml, *.json", or ${otherwise}`)
    : parseDataKeys(text);
}

const parseDataKeys = (text: string) => parseKeyGlobs(text, 'data');
const parseMetadataKeys = (text: string) => parseKeyGlobs(text, 'metadata');

function parseDeletionPolicy(text: string): Parsed<DeletionPolicy> {
  return text === 'delete' || text === 'retain'
    ? parsed(text)
    : problem(`${quoted(text)}: write "delete" or "retain"`);
}

function parseCompanionName(source: Asking, besideSource: boolean, vocabulary: Vocabulary): string {
  const key = vocabulary.companionName;
  const template = source.annotations[key] ?? DEFAULT_COMPANION_NAME;
  if (template.trim() === '') throw new BadAnnotation(`${key}: empty; write a name, such as "{name}-synced"`);
  const placeholders = template.match(/\{+[^{}]*\}*|\}+/g) ?? [];
  const unknown = placeholders.find((each) => each !== '{name}' && each !== '{namespace}');
  const name = template.replaceAll('{name}', source.name).replaceAll('{namespace}', source.namespace);
  if (unknown !== undefined) {
    throw new BadAnnotation(
      `${key}: ${quoted(unknown)} is not a placeholder; there are "{name}" and "{namespace}"`,
    );
  }
  if (name.length > MAX_NAME_LENGTH) {
    throw new BadAnnotation(
      `${key}: the companion's name would have ${name.length} characters, and at most ${MAX_NAME_LENGTH} are allowed; ` +
        'shorten the name of the source, or set the annotation to a shorter name',
    );
  }
  if (!isObjectName(name)) {
    throw new BadAnnotation(`${key}: "${name}" is not a valid object name (a-z, 0-9, "-" and ".")`);
  }
  if (besideSource && name === source.name) {
    throw new BadAnnotation(
      `${key}: the companion would be the source itself; choose a different name, or target other namespaces`,
    );
  }
  return name;
}

export function companionKey(request: MirrorRequest, namespace: string): ObjectKey {
  return objectKey(namespace, request.companionName);
}
