import { styleText } from 'node:util';

export interface NarratorOptions {
  readonly write: (text: string) => void;
  readonly colour: boolean;
}

type Style = Parameters<typeof styleText>[0];

/** Readable in a terminal of 80 columns. */
const WIDTH = 79;
const INDENT = '    ';

/** Puts the workshop into lines for a person. */
export class Narrator {
  readonly #write: (text: string) => void;
  readonly #colour: boolean;

  constructor({ write, colour }: NarratorOptions) {
    this.#write = write;
    this.#colour = colour;
  }

  /** Paragraphs at the left margin. */
  say(...paragraphs: readonly string[]): void {
    for (const paragraph of paragraphs) this.#print([...wrapped(paragraph, '', ''), '']);
  }

  chapter(title: string): void {
    this.#print([title, '-'.repeat(title.length), ''], ['bold', 'magenta']);
  }

  title(number: number, title: string): void {
    this.#print([`${String(number).padStart(2)}  ${title}`], 'bold');
  }

  story(text: string): void {
    this.#print(wrapped(text, INDENT, INDENT));
  }

  command(line: string): void {
    this.#print(shellLines(line), 'cyan');
  }

  /** A command that is no step. */
  preparation(line: string): void {
    this.command(line);
    this.#print(['']);
  }

  /** A step holds. */
  seen(what: string, durationMs: number): void {
    this.#print(
      [...wrapped(`${milliseconds(durationMs)}: ${what}`, `${INDENT}✓ `, `${INDENT}  `), ''],
      'green',
    );
  }

  failed(): void {
    this.#print([`${INDENT}✗ this does not hold`, ''], 'red');
  }

  skipped(why: string): void {
    this.#print([...wrapped(`SKIPPED: ${why}`, `${INDENT}- `, `${INDENT}  `), ''], ['bold', 'yellow']);
  }

  #print(lines: readonly string[], style?: Style): void {
    for (const line of lines) {
      const styled =
        this.#colour && style !== undefined && line !== ''
          ? styleText(style, line, { validateStream: false })
          : line;
      this.#write(`${styled}\n`);
    }
  }
}

/** `4.2 ms`, `42 ms`, `1,042 ms` */
function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US')} ms`;
}

function wrapped(text: string, first: string, rest: string): readonly string[] {
  return folded(text.split(' '), first, rest, '');
}

/** A command as a person may paste it: where it must be broken, a backslash says that it goes on. */
function shellLines(line: string): readonly string[] {
  // No break inside of quotes, nor between a short option and its value.
  const words = line.match(/(?:-\w )?(?:'[^']*'|[^\s'])+/g) ?? [];
  return folded(words, `${INDENT}$ `, `${INDENT}    `, ' \\');
}

/** Words in lines; `joint` ends each line that another follows. */
function folded(words: readonly string[], first: string, rest: string, joint: string): readonly string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of words) {
    if (!isEmpty && line.length + 1 + word.length + joint.length > WIDTH) {
      lines.push(line + joint);
      line = rest;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
