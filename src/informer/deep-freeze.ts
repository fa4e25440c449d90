/**
 * Freezes a plain value and everything in it, and returns it. Skips what is already frozen, so a
 * part that many items share costs once, and binary data, which cannot be frozen.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
