/** Says what a value should be if it is something else. */
type Check = (value: unknown) => string | undefined;

export const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text: Check = (value) =>
  typeof value === 'string' ? undefined : 'should be a string: put it in quotes';
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'should be true or false');
const map: Check = (value) => (isMap(value) ? undefined : 'should be a map');
const listOf =
  (isItem: (item: unknown) => boolean, items: string): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem) ? undefined : `should be a list of ${items}`;
const isText = (value: unknown): boolean => typeof (value ?? '') === 'string';
const texts = listOf(isText, 'strings');
const isVariable = (item: unknown): boolean => isMap(item) && isText(item['name']) && isText(item['value']);
const mapOfTexts: Check = (value) =>
  isMap(value) && Object.values(value).every((item) => texts(item) === undefined)
    ? undefined
    : 'should be a map of lists of strings';

type Checks = Readonly<Record<string, Check>>;

const CONTEXT: Checks = { cluster: text, user: text, namespace: text };
const CLUSTER: Checks = {
  server: text,
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': flag,
  'tls-server-name': text,
  'proxy-url': text,
};
const USER: Checks = {
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  as: text,
  'as-uid': text,
  'as-groups': texts,
  'as-user-extra': mapOfTexts,
  exec: map,
  'auth-provider': map,
};
const EXEC: Checks = {
  command: text,
  apiVersion: text,
  args: texts,
  env: listOf(isVariable, 'maps with name and value'),
  provideClusterInfo: flag,
};

/**
 * The first field of a kubeconfig that has another type than kubectl expects, as a sentence without
 * its value, which may be a secret. YAML makes a number of `0123` and `1e9`. A group in place of a
 * list of groups would be taken apart into letters.
 */
export function malformedField(document: Readonly<Record<string, unknown>>): string | undefined {
  return (
    malformedEntry(document, 'contexts', 'context', CONTEXT) ??
    malformedEntry(document, 'clusters', 'cluster', CLUSTER) ??
    malformedEntry(document, 'users', 'user', USER)
  );
}

function malformedEntry(
  document: Readonly<Record<string, unknown>>,
  list: string,
  kind: string,
  checks: Checks,
): string | undefined {
  const entries = document[list];
  if (!Array.isArray(entries)) return undefined;
  for (const entry of entries) {
    const fields: unknown = isMap(entry) ? entry[kind] : undefined;
    if (!isMap(fields)) continue;
    const problem = malformedOf(fields, checks, '') ?? malformedOf(fields['exec'], EXEC, 'exec.');
    if (problem !== undefined) return `${problem} (${kind} "${String(entry.name)}")`;
  }
  return undefined;
}

/** Go takes null for absent. */
function malformedOf(fields: unknown, checks: Checks, prefix: string): string | undefined {
  if (!isMap(fields)) return undefined;
  for (const [field, check] of Object.entries(checks)) {
    const value = fields[field];
    const problem = value === undefined || value === null ? undefined : check(value);
    if (problem !== undefined) return `${prefix}${field} ${problem}`;
  }
  return undefined;
}
