/** What a parser of user-written text returns: the value, or the problem in words that a person can act on. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value });
export const problem = (text: string): Parsed<never> => ({ ok: false, problem: text });
