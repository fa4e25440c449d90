/** What differs from server to server and from run to run: it is compared only as "there is one". */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/g, '<microtime>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>'],
  // In the messages about preconditions, and about versions that are not there yet.
  [/(too old resource version: )\d+ \(\d+\)/, '$1<resourceVersion>'],
  [/(ResourceVersion in record \(|current: )\d+/g, '$1<resourceVersion>'],
  // What Go's JSON decoder and the place in Kubernetes' source have to say; nobody can count on it.
  [/(json parse error: )[\s\S]*$/, '$1<error>'],
  [/(continue key is not valid: )[\s\S]*$/, '$1<error>'],
  [/(in scheme )".*"/, '$1<scheme>'],
  [/(resourceVersion":")\d+/g, '$1<resourceVersion>'],
  // The whole object, managedFields included, in front of what is wrong with it.
  [/(Invalid value: ")(\{|map\[)[\s\S]*(\}|\])(": )/, '$1<patched object>$4'],
  // A Table's ages.
  [/^\d+m?s$/, '<age>'],
];

/**
 * `value` with `<uid>`, `<resourceVersion>`, `<time>` and their like in the places of such, `<namespace>` in place of
 * `namespace`, and without managedFields, which have a contract of their own.
 */
export function normalised(value: unknown, namespace: string): unknown {
  if (typeof value === 'string') return normalisedText(value, namespace);
  if (Array.isArray(value)) return value.map((item) => normalised(item, namespace));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([key]) => key !== 'managedFields');
  return Object.fromEntries(members.map(([key, member]) => [key, normalisedMember(key, member, namespace)]));
}

function normalisedMember(key: string, member: unknown, namespace: string): unknown {
  if (key === 'resourceVersion' && /^\d+$/.test(String(member))) return '<resourceVersion>';
  if (key === 'continue' && member !== '') return '<continue>';
  return normalised(member, namespace);
}

function normalisedText(text: string, namespace: string): string {
  const named = text.replaceAll(namespace, '<namespace>');
  return REPLACED.reduce((result, [pattern, placeholder]) => result.replace(pattern, placeholder), named);
}
