import stringWidth from 'string-width';

export interface TableRow {
  readonly cells: readonly string[];
  /** Lines below it. */
  readonly below?: readonly string[];
}

export interface TableOptions {
  readonly headers?: readonly string[] | undefined;
  /** Columns of the terminal; infinite without one, so lines are as long as they are. */
  readonly width: number;
}

const GAP = 3;
/** Narrower, the sentences stand below their rows. */
const LEAST_SENTENCE = 24;
/** Names are not cut to less. */
const LEAST_NAME = 6;

/**
 * Columns as kubectl prints them. The last one has sentences, which wrap; the others have names and
 * words. Each line ends in a line break.
 */
export function renderTable(rows: readonly TableRow[], { headers, width }: TableOptions): string {
  const all = [...(headers ? [{ cells: headers }] : []), ...rows].map(({ cells, below }: TableRow) => ({
    cells: cells.map(oneLine),
    below: below?.map(oneLine),
  }));
  const names = (all[0]?.cells.length ?? 1) - 1;
  const natural = Array.from({ length: names }, (_, at) =>
    Math.max(0, ...all.map(({ cells }) => stringWidth(cells[at] ?? ''))),
  );
  const taken = (widths: readonly number[]) => widths.reduce((sum, each) => sum + each + GAP, 0);
  const isBelow = width - taken(natural) < LEAST_SENTENCE;
  const widths = isBelow ? fitted(natural, width + GAP - taken(natural)) : natural;
  const inner = Math.max(1, width - 2);
  const lines: string[] = [];
  for (const [at, { cells, below = [] }] of all.entries()) {
    const head = widths.map((each, at) => pad(cut(cells[at] ?? '', each), each + GAP)).join('');
    const isHeader = headers !== undefined && at === 0;
    const sentence = isHeader && isBelow ? '' : (cells[names] ?? '');
    if (isBelow) lines.push(head, ...indented(wrap(sentence, inner)));
    else lines.push(...hanging(head, wrap(sentence, width - taken(widths))));
    lines.push(...below.flatMap((line) => indented(wrap(line, inner))));
  }
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** Texts of others must neither break the line nor control the terminal. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

/** Takes what is missing from the widest, one by one. `space`: below 0, how much is missing. */
function fitted(widths: readonly number[], space: number): readonly number[] {
  const narrower = [...widths];
  for (let missing = -space; missing > 0; missing -= 1) {
    const widest = narrower.indexOf(Math.max(...narrower));
    const current = narrower[widest] ?? 0;
    if (current <= LEAST_NAME) break;
    narrower[widest] = current - 1;
  }
  return narrower;
}

function hanging(head: string, lines: readonly string[]): readonly string[] {
  const [first = '', ...others] = lines;
  return [head + first, ...others.map((line) => ' '.repeat(stringWidth(head)) + line)];
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line !== '').map((line) => `  ${line}`);
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

/** From the middle: names that belong together often begin alike, and differ at the end. */
function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  const begin = fitting([...text], Math.floor((width - 1) / 2));
  const end = fitting([...text].reverse(), Math.ceil((width - 1) / 2));
  return `${begin.join('')}…${end.reverse().join('')}`;
}

/** The first of `characters` that fit. */
function fitting(characters: readonly string[], width: number): string[] {
  let taken = 0;
  return characters.filter((character) => {
    taken += stringWidth(character);
    return taken <= width;
  });
}

/** A sentence as lines that fit. */
export function paragraph(text: string, width: number): string {
  return wrap(text, width)
    .map((line) => `${line}\n`)
    .join('');
}

/** Breaks between words, or within one that is too long. Each line has at least one character. */
function wrap(text: string, width: number): readonly string[] {
  if (stringWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (stringWidth(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (stringWidth(line) > width) {
      const [first = '', ...rest] = line;
      const part = first + fitting(rest, width - stringWidth(first)).join('');
      lines.push(part);
      line = line.slice(part.length);
    }
  }
  return [...lines, line];
}
