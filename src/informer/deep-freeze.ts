/**
 * Freezes a plain value and all that it holds, and returns it. What is frozen already is not entered again,
 * so a part shared by many items costs once. Binary data is left as it is: it cannot be frozen.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
