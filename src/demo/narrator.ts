import { styleText } from 'node:util';
import { sentence } from '../telemetry/sentence.ts';
import type { LogRecord } from './view.ts';

export interface NarratorOptions {
  readonly write: (text: string) => void;
  readonly colour: boolean;
  /** Width of the terminal; undefined: unknown. */
  readonly columns?: number | undefined;
}

type Style = Parameters<typeof styleText>[0];

/** Widest line (columns). */
const WIDTH = 79;
const INDENT = '    ';
const MARKS = { '✓': 'green', '✗': 'red', '-': 'yellow' } as const;

/** Lays the workshop out in lines. */
export class Narrator {
  readonly #write: (text: string) => void;
  readonly #colour: boolean;
  readonly #width: number;

  constructor({ write, colour, columns = WIDTH }: NarratorOptions) {
    this.#write = write;
    this.#colour = colour;
    this.#width = Math.min(WIDTH, columns);
  }

  /** Paragraphs at the left margin. */
  say(...paragraphs: readonly string[]): void {
    for (const paragraph of paragraphs) {
      this.#text(paragraph, '', '');
      this.#write('\n');
    }
  }

  chapter(title: string): void {
    this.#print([title, '-'.repeat(title.length), ''], ['bold', 'magenta']);
  }

  title(number: number, title: string): void {
    this.#text(title, `${String(number).padStart(2)}  `, INDENT, 'bold');
  }

  story(text: string): void {
    this.#text(text, INDENT, INDENT);
  }

  /** A command that can be pasted: a backslash ends each of its lines but the last. */
  command(line: string): void {
    // No break inside quotes, nor between a short option and its value.
    const words = line.match(/(?:-\w )?(?:'[^']*'|[^\s'])+/g) ?? [];
    this.#print(this.#folded(words, `${INDENT}$ `, `${INDENT}    `, ' \\'), 'cyan');
  }

  /** What the controller logged, but for its debug records. */
  log(records: readonly LogRecord[]): void {
    for (const record of records.filter(({ level }) => level !== 'debug')) {
      const level = record['level'] === 'info' ? '' : `${String(record['level']).toUpperCase()} `;
      this.#text(level + sentence(record), `${INDENT}| `, `${INDENT}|   `, level ? 'yellow' : 'dim');
    }
  }

  /** The step succeeded. */
  seen(what: string, durationMs: number): void {
    this.end('✓', `${milliseconds(durationMs)}: ${what}`);
  }

  /** How the step ended. */
  end(mark: keyof typeof MARKS, text: string): void {
    this.#text(text, `${INDENT}${mark} `, `${INDENT}  `, MARKS[mark]);
    this.#write('\n');
  }

  #text(text: string, first: string, rest: string, style?: Style): void {
    this.#print(this.#folded(text.split(' '), first, rest, ''), style);
  }

  /** Puts words into lines. `first` and `rest` begin them; `joint` ends each but the last. */
  #folded(words: readonly string[], first: string, rest: string, joint: string): readonly string[] {
    const lines: string[] = [];
    let line = first;
    let isEmpty = true;
    for (const word of words) {
      if (!isEmpty && line.length + 1 + word.length + joint.length > this.#width) {
        lines.push(line + joint);
        line = rest;
        isEmpty = true;
      }
      line += isEmpty ? word : ` ${word}`;
      isEmpty = false;
    }
    return [...lines, line];
  }

  #print(lines: readonly string[], style?: Style): void {
    for (const line of lines) {
      const isStyled = this.#colour && style !== undefined && line !== '';
      this.#write(`${isStyled ? styleText(style, line, { validateStream: false }) : line}\n`);
    }
  }
}

/** `4.2 ms`, `42 ms`, `1,042 ms` */
function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US')} ms`;
}
