/** Label selectors: grammar, meaning and messages of k8s.io/apimachinery pkg/labels. */

import { labelKeyProblems, labelValueProblems } from '../kinds/formats.ts';
import { byCodeUnit, quoted } from '../objects/json.ts';

export type Labels = Readonly<Record<string, string>>;
export type LabelMatcher = (labels: Labels) => boolean;

/** Thrown for a selector that does not parse. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

type Operator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!';

interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

const TOKEN = /\s*(?:(==|!=|[=!<>(),])|([^\s=!<>(),]+))/y;
const BINARY = new Map<string, Operator>([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
]);
const EXPECTED_OPERATORS = 'in, notin, =, ==, !=, gt, lt';
const END = '';

/** An empty selector matches everything. */
export function parseLabelSelector(selector: string): LabelMatcher {
  const requirements = new Parser(tokensOf(selector)).parse();
  return (labels) => requirements.every((requirement) => meets(labels, requirement));
}

function meets(labels: Labels, { key, operator, values }: Requirement): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'in':
    case '=':
    case '==':
      return value !== undefined && values.includes(value);
    case 'notin':
    case '!=':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case 'gt':
    case 'lt': {
      if (value === undefined || !/^[+-]?\d+$/.test(value)) return false;
      const difference = BigInt(value) - BigInt(values[0] ?? '');
      return operator === 'gt' ? difference > 0n : difference < 0n;
    }
  }
}

function tokensOf(selector: string): readonly string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(selector); match; match = TOKEN.exec(selector)) {
    tokens.push(match[1] ?? match[2] ?? '');
  }
  return tokens;
}

const isIdentifier = (token: string): boolean => token !== END && !/[=!<>(),]/.test(token);

class Parser {
  readonly #tokens: readonly string[];
  #position = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  parse(): readonly Requirement[] {
    const requirements: Requirement[] = [];
    while (this.#peek() !== END) {
      const token = this.#peek();
      if (!isIdentifier(token) && token !== '!') {
        throw new SelectorError(`found '${token}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.#requirement());
      this.#separator();
    }
    return requirements;
  }

  #separator(): void {
    const token = this.#next();
    if (token === END) return;
    if (token !== ',') throw new SelectorError(`found '${token}', expected: ',' or 'end of string'`);
    const following = this.#peek();
    if (!isIdentifier(following) && following !== '!') {
      throw new SelectorError(`found '${following}', expected: identifier after ','`);
    }
  }

  #requirement(): Requirement {
    const negated = this.#peek() === '!';
    if (negated) this.#next();
    const key = this.#next();
    if (!isIdentifier(key)) throw unparsable(`found '${key}', expected: identifier`);
    // The real parser has no path for a key.
    check(key, labelKeyProblems(key), '<nil>');
    if (negated) return { key, operator: '!', values: [] };
    if (this.#peek() === END || this.#peek() === ',') return { key, operator: 'exists', values: [] };
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#exactValue()];
    checkValues(key, operator, values);
    return { key, operator, values };
  }

  #operator(): Operator {
    const token = this.#next();
    const operator = BINARY.get(token);
    if (!operator) throw unparsable(`found '${token}', expected: ${EXPECTED_OPERATORS}`);
    return operator;
  }

  /** `(a, b)`; nothing between two commas is the empty value. */
  #values(): readonly string[] {
    const open = this.#next();
    if (open !== '(') throw unparsable(`found '${open}' expected: '('`);
    const values = new Set<string>();
    for (let token = this.#next(); ; token = this.#next()) {
      if (isIdentifier(token)) {
        values.add(token);
        token = this.#next();
      } else {
        values.add('');
      }
      if (token === ')') return [...values].sort(byCodeUnit);
      if (token !== ',') throw unparsable(`found '${token}', expected: ',' or ')'`);
    }
  }

  #exactValue(): string {
    const token = this.#peek();
    if (token === END || token === ',') return '';
    this.#next();
    if (!isIdentifier(token)) throw unparsable(`found '${token}', expected: identifier`);
    return token;
  }

  #peek(): string {
    return this.#tokens[this.#position] ?? END;
  }

  #next(): string {
    const token = this.#peek();
    this.#position += 1;
    return token;
  }
}

const unparsable = (why: string): SelectorError => new SelectorError(`unable to parse requirement: ${why}`);

function check(value: string, problems: readonly string[], path: string): void {
  if (problems.length === 0) return;
  throw unparsable(`${path}: Invalid value: ${quoted(value)}: ${problems.join('; ')}`);
}

function checkValues(key: string, operator: Operator, values: readonly string[]): void {
  values.forEach((value, i) => {
    if ((operator === 'gt' || operator === 'lt') && !/^[+-]?\d+$/.test(value)) {
      const why = "for 'Gt', 'Lt' operators, the value must be an integer";
      throw unparsable(`values[${i}]: Invalid value: ${quoted(value)}: ${why}`);
    }
    check(value, labelValueProblems(value), `values[${i}][${key}]`);
  });
}
