import { type Parsed, parsed, problem, quoted } from '../parsed.ts';
import { entryAt, type StringMap } from '../vocabulary.ts';
import { isObjectName } from './object-name.ts';

interface Requirement {
  readonly key: string;
  readonly operator: 'exists' | 'absent' | 'in' | 'not in' | 'greater' | 'less';
  readonly values: ReadonlySet<string>;
}

export interface LabelSelector {
  /** All must hold. */
  readonly requirements: readonly Requirement[];
}

// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
const QUALIFIED_NAME = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Most requirements in one selector. Each is tried on every namespace. */
const MOST_REQUIREMENTS = 100;

const SET_BASED = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY_BASED = /^([^\s=!<>]+)\s*(==|=|!=|>|<)\s*([^\s=!<>]*)$/;
const EXISTENCE = /^(!?)\s*([^\s=!<>()]+)$/;

/**
 * Parses a selector as `kubectl -l` does: `env in (dev,qa), tier!=db, !legacy, shard>3`. An empty
 * text matches everything; the caller decides whether that is allowed. As in Kubernetes, `!=` and
 * `notin` also match objects without the key.
 */
export function parseLabelSelector(text: string): Parsed<LabelSelector> {
  const requirements: Requirement[] = [];
  for (const part of splitRequirements(text)) {
    if (part.trim() === '') {
      if (text.trim() === '') break;
      return problem('there is an extra comma');
    }
    const requirement = parseRequirement(part.trim());
    if (!requirement.ok) return requirement;
    requirements.push(requirement.value);
  }
  if (requirements.length > MOST_REQUIREMENTS) {
    return problem(`more than ${MOST_REQUIREMENTS} requirements; say it in fewer, such as "key in (a,b)"`);
  }
  return parsed({ requirements });
}

/** Splits at commas outside parentheses, in linear time: an annotation may have 256 KiB. */
function splitRequirements(text: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  let inParentheses = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '(') inParentheses = true;
    else if (character === ')') inParentheses = false;
    else if (character === ',' && !inParentheses) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

function parseRequirement(text: string): Parsed<Requirement> {
  const requirement = readRequirement(text);
  if (requirement === undefined) {
    return problem(`${quoted(text)}: write "key=value", "key in (a,b)", "key notin (a,b)", "key" or "!key"`);
  }
  if (!isLabelKey(requirement.key)) return problem(`${quoted(requirement.key)} is not a label key`);
  const bad = [...requirement.values].find((value) => !LABEL_VALUE.test(value));
  if (bad !== undefined) return problem(`${quoted(bad)} is not a label value`);
  const numeric = requirement.operator === 'greater' || requirement.operator === 'less';
  if (numeric && [...requirement.values].some((value) => wholeNumber(value) === undefined)) {
    return problem(`${quoted(text)}: ">" and "<" compare with a whole number below 2^63`);
  }
  return parsed(requirement);
}

function readRequirement(text: string): Requirement | undefined {
  const setBased = SET_BASED.exec(text);
  if (setBased) {
    const [, key = '', operator, list = ''] = setBased;
    const values = new Set(list.split(',').map((value) => value.trim()));
    return { key, operator: operator === 'in' ? 'in' : 'not in', values };
  }
  const equality = EQUALITY_BASED.exec(text);
  if (equality) {
    const [, key = '', operator = '', value = ''] = equality;
    const operators = { '=': 'in', '==': 'in', '!=': 'not in', '>': 'greater', '<': 'less' } as const;
    return { key, operator: operators[operator as keyof typeof operators], values: new Set([value]) };
  }
  const existence = EXISTENCE.exec(text);
  if (!existence) return undefined;
  return { key: existence[2] ?? '', operator: existence[1] ? 'absent' : 'exists', values: new Set() };
}

function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash < 0) return QUALIFIED_NAME.test(key);
  return isObjectName(key.slice(0, slash)) && QUALIFIED_NAME.test(key.slice(slash + 1));
}

export function matchesSelector(selector: LabelSelector, labels: StringMap): boolean {
  return selector.requirements.every((requirement) => holds(requirement, entryAt(labels, requirement.key)));
}

function holds(requirement: Requirement, value: string | undefined): boolean {
  switch (requirement.operator) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && requirement.values.has(value);
    case 'not in':
      return value === undefined || !requirement.values.has(value);
    case 'greater':
    case 'less': {
      const [bound = ''] = requirement.values;
      const number = value === undefined ? undefined : wholeNumber(value);
      const limit = wholeNumber(bound);
      if (number === undefined || limit === undefined) return false;
      return requirement.operator === 'greater' ? number > limit : number < limit;
    }
  }
}

const MAX_INT64 = 2n ** 63n - 1n;

/** A label value as an int64, as in Kubernetes. A label value cannot begin with "-". */
function wholeNumber(value: string): bigint | undefined {
  if (!/^\d+$/.test(value)) return undefined;
  const number = BigInt(value);
  return number <= MAX_INT64 ? number : undefined;
}
