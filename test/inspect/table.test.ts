import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { paragraph, renderTable } from '../../src/inspect/table.ts';

const headers = ['NAME', 'COMPANION', 'STATE', 'REASON'];
const rows = [
  { cells: ['home/colors', 'team-a/colors-synced', 'in sync', ''] },
  {
    cells: [
      'home/bad',
      '<none>',
      'invalid',
      'workshop.io/deletion-policy: "保持": write "delete" or "retain"',
    ],
    below: ['~ data sky: 4 B → 12 B'],
  },
];

describe('a table', () => {
  test('[C3] in a pipe: aligned columns, three spaces apart, nothing cut or wrapped', () => {
    expect(renderTable(rows, { headers, width: Number.POSITIVE_INFINITY })).toBe(
      [
        'NAME          COMPANION              STATE     REASON',
        'home/colors   team-a/colors-synced   in sync',
        'home/bad      <none>                 invalid   workshop.io/deletion-policy: "保持": write "delete" or "retain"',
        '  ~ data sky: 4 B → 12 B',
        '',
      ].join('\n'),
    );
  });

  test('[C3] on a wide terminal the reason wraps in its own column', () => {
    expect(renderTable(rows, { headers, width: 80 })).toBe(
      [
        'NAME          COMPANION              STATE     REASON',
        'home/colors   team-a/colors-synced   in sync',
        'home/bad      <none>                 invalid   workshop.io/deletion-policy:',
        '                                               "保持": write "delete" or',
        '                                               "retain"',
        '  ~ data sky: 4 B → 12 B',
        '',
      ].join('\n'),
    );
  });

  test('[C3] in 60 columns the reason stands below its row', () => {
    expect(renderTable(rows, { headers, width: 60 })).toBe(
      [
        'NAME          COMPANION              STATE',
        'home/colors   team-a/colors-synced   in sync',
        'home/bad      <none>                 invalid',
        '  workshop.io/deletion-policy: "保持": write "delete" or',
        '  "retain"',
        '  ~ data sky: 4 B → 12 B',
        '',
      ].join('\n'),
    );
  });

  test.each([20, 40, 60, 80, 200])('[C3] no line is wider than a terminal of %i columns', (width) => {
    const long = `${'n'.repeat(63)}/${'保'.repeat(80)}`;
    const text = renderTable(
      [{ cells: [long, long, 'conflict', `${long} ${'文'.repeat(300)} end`], below: [long] }],
      { headers, width },
    );
    for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(Math.max(width, 26));
    expect(text).toContain('end');
  });

  test.each([0, 1, 2, 3])('[C3] a terminal of %i columns loses no text', (width) => {
    const sentence = `保${'n'.repeat(20)} end`;
    const cells = ['a/b', 'a/b-synced', 'invalid', sentence];
    const text = renderTable([{ cells, below: [sentence] }], { width });
    const withoutSpace = sentence.replaceAll(' ', '');
    expect(text.replace(/\s/g, '')).toContain(withoutSpace + withoutSpace);
    expect(paragraph(sentence, width).replace(/\s/g, '')).toBe(withoutSpace);
  });

  test('[C3] without headers there are only rows', () => {
    expect(renderTable(rows.slice(0, 1), { width: Number.POSITIVE_INFINITY })).toBe(
      'home/colors   team-a/colors-synced   in sync\n',
    );
  });

  test('[C3] texts of others neither break the line nor control the terminal', () => {
    const cells = ['a/b', 'a/b-synced', 'invalid', 'x\n\u001b[31mred\u202e'];
    const text = renderTable([{ cells }], { width: Number.POSITIVE_INFINITY });
    expect(text).toBe('a/b   a/b-synced   invalid   x [31mred\n');
  });
});
