/**
 * What differs from server to server and from run to run: it is compared only as "there is one".
 * What the tests made up (uids of ones, the resourceVersions 0, 1 and 99999999999, the times of
 * 2026-01-02) stays.
 */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/(?!11111111-)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/(?!2026-01-02)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z/g, '<microtime>'],
  [/(?!2026-01-02)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>'],
  [/(\bgen-)[a-z0-9]{5}\b/g, '$1<random>'],
  // In a request's query.
  [/(resourceVersion=)(?!(?:0|1|99999999999)\b)\d+/g, '$1<resourceVersion>'],
  [/(continue=)(?!nonsense)[^&]+/g, '$1<continue>'],
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
 * `value` with `<uid>`, `<resourceVersion>`, `<time>` and their like in the places of such,
 * `<namespace>` in place of `namespace`, and long runs of one letter as their length.
 */
export function normalised(value: unknown, namespace: string): unknown {
  if (typeof value === 'string') return normalisedText(value, namespace);
  if (Array.isArray(value)) return value.map((item) => normalised(item, namespace));
  if (typeof value !== 'object' || value === null) return value;
  const isGuard = 'path' in value && value.path === '/metadata/resourceVersion';
  const members = Object.entries(value).map(([key, member]) => {
    if (key === 'resourceVersion' || (isGuard && key === 'value')) return [key, normalisedVersion(member)];
    if (key === 'continue' && member !== '') return [key, '<continue>'];
    return [normalisedText(key, namespace), normalised(member, namespace)];
  });
  return Object.fromEntries(members);
}

/** `value` without managedFields, at any depth. */
export function withoutManagedFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutManagedFields);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([key]) => key !== 'managedFields');
  return Object.fromEntries(members.map(([key, member]) => [key, withoutManagedFields(member)]));
}

function normalisedVersion(version: unknown): unknown {
  return /^(?!(?:0|1|99999999999)$)\d+$/.test(String(version)) ? '<resourceVersion>' : version;
}

function normalisedText(text: string, namespace: string): string {
  const short = text.replaceAll(namespace, '<namespace>').replace(/x{60,}/g, (run) => `<${run.length} x>`);
  return REPLACED.reduce((result, [pattern, placeholder]) => result.replace(pattern, placeholder), short);
}
