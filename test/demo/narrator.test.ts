import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { Narrator } from '../../src/demo/narrator.ts';

const LONG = 'All work and no play makes Jack a dull boy, and the sky over the harbour is blue. '
  .repeat(4)
  .trim();
const COMMAND = `kubectl patch configmap colors --type=merge -p '{"data":{"sky":"a word and a word and a word"}}'`;

function told(colour: boolean, columns?: number): string {
  let text = '';
  const narrator = new Narrator({
    write: (line) => {
      text += line;
    },
    colour,
    columns,
  });
  narrator.say(LONG, LONG);
  narrator.chapter('A chapter');
  narrator.title(7, 'A step');
  narrator.story(LONG);
  narrator.command(COMMAND);
  narrator.log([
    { level: 'debug', msg: 'not for a person' },
    { level: 'warn', msg: 'companion in conflict', companion: 'a/b', reason: LONG },
  ]);
  narrator.seen(LONG, 1234.5);
  narrator.end('-', LONG);
  narrator.end('✗', 'failed');
  return text;
}

test('[C5] without colour there is not one escape code, with it nothing but colour is added', () => {
  expect(told(false)).not.toContain('\u001b');
  expect(told(true)).toContain('\u001b');
  expect(stripVTControlCharacters(told(true))).toBe(told(false));
});

test('[C5] no line is longer than 80 columns, and no word is lost', () => {
  const lines = told(false).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  const words = lines.join(' ').split(/\s+/).join(' ');
  expect(words.split(LONG)).toHaveLength(6);
  expect(lines).toContain('    | WARN companion a/b in conflict: All work and no play makes Jack a dull');
  expect(words).not.toContain('not for a person');
});

test('[C5] in a narrower terminal its lines are no wider than that', () => {
  const lines = told(false, 40).split('\n');
  // The data of the command is one word.
  expect(lines.filter((line) => line.length > 40 && !line.includes('sky'))).toEqual([]);
});

test('[C5] a command that takes several lines is still one for the shell', () => {
  const [, shown = ''] = /^ {4}\$ ((?:.*\\\n)*.*)$/m.exec(told(false)) ?? [];
  expect(shown).toContain('\\\n');
  for (const line of shown.split('\n'))
    expect(line.split("'").length % 2, 'no break inside of quotes').toBe(1);
  // What a shell does with a backslash at the end of a line, and with blanks between words.
  expect(shown.replace(/\\\n\s*/g, '')).toBe(COMMAND);
});

test('[C5] times are readable', () => {
  const times = [4.25, 42.4, 1042].map((value) => {
    let text = '';
    new Narrator({ write: (line) => (text += line), colour: false }).seen('done', value);
    return text.trim();
  });
  expect(times).toEqual(['✓ 4.3 ms: done', '✓ 42 ms: done', '✓ 1,042 ms: done']);
});
