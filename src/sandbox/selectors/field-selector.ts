/** Field selectors: grammar, meaning and messages of k8s.io/apimachinery pkg/fields. */
import { SelectorError } from './label-selector.ts';

interface Term {
  readonly field: string;
  readonly value: string;
  readonly equal: boolean;
}

/** `read` gives an object's value of a field. */
export type FieldMatcher = (read: (field: string) => string) => boolean;

export interface SelectableFields {
  /** The name to `read`; undefined for a field that is not selectable. */
  selectableField(label: string): string | undefined;
  /** The error for such a field. */
  unselectable(label: string): string;
}

/** Parses `a=b,c!=d`. */
export function parseFieldSelector(selector: string, fields: SelectableFields): FieldMatcher {
  const terms = splitTerms(selector)
    .filter((part) => part !== '')
    .map((part) => parseTerm(part, selector, fields));
  return (read) => terms.every(({ field, value, equal }) => (read(field) === value) === equal);
}

/** Splits at commas without a backslash. A backslash at the end stays, for the term to refuse. */
const splitTerms = (selector: string): readonly string[] => selector.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? [];

function parseTerm(part: string, selector: string, fields: SelectableFields): Term {
  const match = /^((?:\\.|[^=!\\])*)(!=|==|=)(.*)$/s.exec(part);
  if (!match) throw new SelectorError(`invalid selector: '${selector}'; can't understand '${part}'`);
  const label = match[1] ?? '';
  const value = unescaped(match[3] ?? '');
  const field = fields.selectableField(label);
  if (field === undefined) throw new SelectorError(fields.unselectable(label));
  return { field, value, equal: match[2] !== '!=' };
}

/** Only `\`, `,` and `=` are escaped, and the latter two must be. */
function unescaped(value: string): string {
  const bad = /^(?:\\[\\,=]|[^\\,=])*/.exec(value)?.[0].length ?? 0;
  if (bad === value.length) return value.replace(/\\(.)/gs, '$1');
  const rest = value.slice(bad);
  throw new SelectorError(
    rest.startsWith('\\')
      ? `invalid field selector: invalid escape sequence: ${rest.slice(0, 2)}`
      : `invalid field selector: unescaped character in value: ${rest[0]}`,
  );
}
