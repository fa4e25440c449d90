import type { Parsed } from '../parsed.ts';
import type { StringMap } from '../vocabulary.ts';

/** Ends nested parsers at the first problem. `parseRequest` catches it. */
export class BadAnnotation extends Error {}

/** Undefined if there is none. @throws BadAnnotation */
export function readAnnotation<T>(
  annotations: StringMap,
  key: string,
  parse: (text: string) => Parsed<T>,
): T | undefined {
  const text = annotations[key];
  if (text === undefined) return undefined;
  const result = parse(text);
  if (!result.ok) throw new BadAnnotation(`${key}: ${result.problem}`);
  return result.value;
}
