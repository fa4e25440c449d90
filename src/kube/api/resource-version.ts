/**
 * Whether the resourceVersion `a` comes before `b`. resourceVersions are decimal numbers without
 * leading zeros, and those of one kind are ordered: KEP-5504, and the API concepts page since 1.35.
 */
export function isOlder(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}
