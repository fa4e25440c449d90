/**
 * The formats of names, label keys and values, and data keys. Each function returns the problems of
 * a value, in the words of k8s.io/apimachinery pkg/util/validation and pkg/api/validate/content.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const CONFIG_KEY = '[-._a-zA-Z0-9]+';

const labelPattern = new RegExp(`^${LABEL}$`);
const subdomainPattern = new RegExp(`^${SUBDOMAIN}$`);
const labelKeyPattern = new RegExp(`^${LABEL_KEY}$`);
const labelValuePattern = new RegExp(`^(${LABEL_KEY})?$`);
const configKeyPattern = new RegExp(`^${CONFIG_KEY}$`);

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const LABEL_KEY_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const CONFIG_KEY_TEXT = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";

/** Maximum length (bytes) of a name. */
const SUBDOMAIN_LIMIT = 253;
const LABEL_LIMIT = 63;

const mustMatch = (message: string, pattern: string, ...examples: readonly string[]): string =>
  `${message} (e.g. ${examples.map((example) => `'${example}', `).join(' or ')}regex used for validation is '${pattern}')`;

const tooManyCharacters = (limit: number): string => `must be no more than ${limit} characters`;
/** The newer half of the real server's validation says bytes. */
const tooManyBytes = (limit: number): string => `must be no more than ${limit} bytes`;

const byteLength = (value: string): number => Buffer.byteLength(value);

function subdomainProblems(value: string, tooMany: (limit: number) => string): string[] {
  return [
    ...(byteLength(value) > SUBDOMAIN_LIMIT ? [tooMany(SUBDOMAIN_LIMIT)] : []),
    ...(subdomainPattern.test(value) ? [] : [mustMatch(SUBDOMAIN_TEXT, SUBDOMAIN, 'example.com')]),
  ];
}

/** Names of most objects. */
export const dnsSubdomainProblems = (value: string): string[] => subdomainProblems(value, tooManyCharacters);

/** Names of namespaces. */
export function dnsLabelProblems(value: string): string[] {
  const problems = byteLength(value) > LABEL_LIMIT ? [tooManyCharacters(LABEL_LIMIT)] : [];
  if (labelPattern.test(value)) return problems;
  const dotted = subdomainPattern.test(value);
  return [...problems, dotted ? 'must not contain dots' : mustMatch(LABEL_TEXT, LABEL, 'my-name', '123-abc')];
}

/** Any part of a URL path: the minimum that the generic registry requires of a name. */
export function pathSegmentProblems(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%']
    .filter((character) => value.includes(character))
    .map((character) => `may not contain '${character}'`);
}

/** Keys of labels and annotations, names of finalizers. */
export function labelKeyProblems(value: string): string[] {
  const parts = value.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) {
    return [
      `a valid label key ${mustMatch(LABEL_KEY_TEXT, LABEL_KEY, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  return second === undefined
    ? labelNameProblems(first)
    : [...prefixProblems(first), ...labelNameProblems(second)];
}

function prefixProblems(prefix: string): string[] {
  const problems = prefix === '' ? ['must be non-empty'] : subdomainProblems(prefix, tooManyBytes);
  return problems.map((problem) => `prefix part ${problem}`);
}

function labelNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name === '') problems.push('name part must be non-empty');
  else if (byteLength(name) > LABEL_LIMIT) problems.push(`name part ${tooManyBytes(LABEL_LIMIT)}`);
  if (!labelKeyPattern.test(name)) {
    problems.push(`name part ${mustMatch(LABEL_KEY_TEXT, LABEL_KEY, 'MyName', 'my.name', '123-abc')}`);
  }
  return problems;
}

export function labelValueProblems(value: string): string[] {
  return [
    ...(byteLength(value) > LABEL_LIMIT ? [tooManyBytes(LABEL_LIMIT)] : []),
    ...(labelValuePattern.test(value)
      ? []
      : [mustMatch(LABEL_VALUE_TEXT, `(${LABEL_KEY})?`, 'MyValue', 'my_value', '12345')]),
  ];
}

/** Keys of a ConfigMap's data and binaryData. */
export function configMapKeyProblems(value: string): string[] {
  return [
    ...(byteLength(value) > SUBDOMAIN_LIMIT ? [tooManyCharacters(SUBDOMAIN_LIMIT)] : []),
    ...(configKeyPattern.test(value)
      ? []
      : [mustMatch(CONFIG_KEY_TEXT, CONFIG_KEY, 'key.name', 'KEY_NAME', 'key-name')]),
    ...dotProblems(value),
  ];
}

function dotProblems(value: string): string[] {
  if (value === '.' || value === '..') return [`must not be '${value}'`];
  return value.startsWith('..') ? ["must not start with '..'"] : [];
}
