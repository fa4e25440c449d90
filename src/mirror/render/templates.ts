import type { Content } from '../observe/content.ts';
import { type KeyGlobs, matchesGlobs } from '../request/patterns.ts';
import { asWritten, parseTemplate, type Template } from '../request/placeholders.ts';

/** A content in which some texts have placeholders. */
export class Templates {
  readonly #content: Content;
  readonly #byKey = new Map<string, Template>();
  /** How often each placeholder occurs. */
  readonly #occurrences = new Map<string, number>();
  /** Size (bytes) of all values as they are. */
  readonly #bytes: number;

  /** `renderKeys`: all other keys are literal, and so is `binaryData`. */
  constructor(content: Content, renderKeys: KeyGlobs) {
    this.#content = content;
    let bytes = 0;
    for (const value of Object.values(content.binaryData)) bytes += Buffer.byteLength(value, 'base64');
    for (const [key, text] of Object.entries(content.data)) {
      bytes += Buffer.byteLength(text);
      if (!matchesGlobs(renderKeys, key)) continue;
      const template = parseTemplate(text);
      if (template.placeholders.length > 0) this.#byKey.set(key, template);
      for (const name of template.placeholders) {
        this.#occurrences.set(name, (this.#occurrences.get(name) ?? 0) + 1);
      }
    }
    this.#bytes = bytes;
  }

  /** Of the texts that have placeholders. */
  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  /** Each once, in the order of the texts. `key`: of one text. */
  placeholders(key?: string): readonly string[] {
    return [...(key === undefined ? this.#occurrences.keys() : new Set(this.#byKey.get(key)?.placeholders))];
  }

  /** Size (bytes) of all values, filled. It is known before anything is put together. */
  bytesWith(texts: ReadonlyMap<string, string>): number {
    let bytes = this.#bytes;
    for (const [name, count] of this.#occurrences) {
      bytes += count * (Buffer.byteLength(texts.get(name) ?? '') - Buffer.byteLength(asWritten(name)));
    }
    return bytes;
  }

  /** `texts`: one for each placeholder. One pass: what is filled in is not looked at again. */
  filledWith(texts: ReadonlyMap<string, string>): Content {
    const { data, binaryData } = this.#content;
    const filled = Object.entries(data).map(([key, text]) => {
      const template = this.#byKey.get(key);
      return [key, template === undefined ? text : fill(template, texts)];
    });
    return { data: Object.fromEntries(filled), binaryData };
  }
}

function fill({ literals, placeholders }: Template, texts: ReadonlyMap<string, string>): string {
  const parts: string[] = [literals[0] ?? ''];
  for (const [at, name] of placeholders.entries()) parts.push(texts.get(name) ?? '', literals[at + 1] ?? '');
  return parts.join('');
}
