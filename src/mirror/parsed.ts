/** What a parser of user-written text returns: the value, or what is wrong and how to fix it. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string };

export const parsed = <T>(value: T): Parsed<T> => ({ ok: true, value });
export const problem = (text: string): Parsed<never> => ({ ok: false, problem: text });

/** What a person wrote, cut to fit into a message. */
export function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

export const quoted = (text: string): string => `"${shortened(text)}"`;
