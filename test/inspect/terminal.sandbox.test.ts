import { Writable } from 'node:stream';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { systemClock } from '../../src/clock/clock.ts';
import { memoryIo } from '../cli/memory-io.ts';
import { World } from '../controller/world.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, scopeOf, short } from './ask.ts';
import { openMessyWorld } from './messy-world.ts';

/** An io whose stdout is a terminal of so many columns. */
function terminal(columns: number) {
  const io = memoryIo();
  return { ...io, stdout: Object.assign(io.stdout, { isTTY: true, columns }) };
}

test.concurrent('[C3] status on a terminal of 60 columns, word for word', async () => {
  await using world = await openMessyWorld(sandboxServer);
  const { out } = await ask(world, ['status', '-n', world.full('team-b')], terminal(60));
  expect(out).toBe(`NAME              COMPANION                  STATE
my-home/bad       my-team-b/bad-synced       invalid
  workshop.io/deletion-policy: "keep": write "delete" or
  "retain"
my-home/colors    my-team-b/colors-synced    drifted
  differs in content
my-home/dropped   my-team-b/dropped-synced   orphaned
  the source is gone

3 companions: 1 drifted, 1 invalid, 1 orphaned
`);
});

test.concurrent.each([
  ['plan'],
  ['status', '-A'],
  ['status', '-A', '-o', 'wide'],
  ['explain', 'my-home/late'],
])('[C3] %s %s: every line but a command to paste fits a terminal of 60 columns', async (...args) => {
  await using world = await openMessyWorld(sandboxServer);
  const { out } = await ask(world, args, terminal(60));
  const wide = out.split('\n').filter((line) => stringWidth(line) > 60);
  expect(wide.filter((line) => !line.startsWith('  kubectl '))).toEqual([]);
});

test.concurrent('[C3] a terminal that reports 0 columns counts as one of 80', async () => {
  await using world = await openMessyWorld(sandboxServer);
  const { out } = await ask(world, ['status', '-A'], terminal(0));
  expect(out).toBe((await ask(world, ['status', '-A'], terminal(80))).out);
});

test.concurrent('[C9] a letter and its value in one word, and -- before names, as kubectl takes them', async () => {
  await using world = await openMessyWorld(sandboxServer);
  const team = world.full('team-b');
  const same = [
    [
      ['status', '-A', '-o', 'name'],
      ['status', '-Aoname'],
      ['status', '-A', '-oname'],
      ['status', '-Ao=name'],
    ],
    [
      ['status', '-n', team, '-o', 'name'],
      ['status', `-n${team}`, '-oname'],
    ],
    [
      ['status', world.full('home/bad'), '-ojson'],
      ['status', '-A', '-ojson', '--', world.full('home/bad')],
    ],
    [
      ['explain', world.full('home/bad')],
      ['explain', '--', world.full('home/bad')],
    ],
  ];
  for (const [first = [], ...others] of same) {
    const expected = await ask(world, first);
    expect(expected.out).not.toBe('');
    for (const args of others) expect(await ask(world, args)).toEqual(expected);
  }
  expect((await ask(world, ['status', '-Aowide'])).out).toMatch(/^NAME +COMPANION +STATE +ACTION +AGE/);
});

test.concurrent('[C2] plan in a pipe, word for word', async () => {
  await using world = await openMessyWorld(sandboxServer);
  const { out } = await ask(world, ['plan', '-n', world.full('team-b')]);
  expect(out).toBe(`NAME              COMPANION                  ACTION   REASON
my-home/bad       my-team-b/bad-synced       none     workshop.io/deletion-policy: "keep": write "delete" or "retain"
my-home/colors    my-team-b/colors-synced    update   differs in content
  - data moon: 5 B
  ~ data sky: 4 B → 4 B
my-home/dropped   my-team-b/dropped-synced   delete   the source is gone

1 to update, 1 to delete, 1 left alone
`);
});

test.concurrent('[C3] status --watch on a terminal redraws the screen', async () => {
  await using world = await World.open(sandboxServer);
  await world.createSource();
  const io = terminal(80);
  const watching = runProgram(['status', ...scopeOf(world), '-A', '--watch'], io);
  const screens = () => short(world, io.out()).split('\u001b[H\u001b[2J');
  await waitFor(() => screens().at(-1)?.includes('1 companion: 1 missing'), { describe: io.out });
  await world.run('--once');
  await waitFor(() => screens().at(-1)?.includes('1 companion: 1 in sync'), { describe: io.out });
  io.stop();
  expect(await watching).toBe(0);
});

test.concurrent('[C3] status --watch on a terminal that is too low keeps the header and the counts', async () => {
  await using world = await openMessyWorld(sandboxServer);
  const io = terminal(200);
  Object.assign(io.stdout, { rows: 6 });
  const watching = runProgram(['status', ...scopeOf(world), '-A', '--watch'], io);
  await waitFor(() => io.out().includes('10 companions'), { describe: io.out });
  io.stop();
  expect(await watching).toBe(0);
  const lines = io.out().split('\n');
  expect(lines).toHaveLength(6);
  expect(lines[0]).toMatch(/NAME +COMPANION/);
  expect(lines.slice(3)).toEqual(['… 9 more lines', expect.stringMatching(/^10 companions: /), '']);
});

test.concurrent('[C3] the program ends only when a slow reader has all of its answer', async () => {
  await using world = await openMessyWorld(sandboxServer);
  let read = '';
  const slow = new Writable({
    write: (chunk, _encoding, done) => {
      systemClock.setTimer(300, () => {
        read += String(chunk);
        done();
      });
    },
  });
  const io = { ...memoryIo(), stdout: slow };
  expect(await runProgram(['status', ...scopeOf(world), '-A'], io)).toBe(0);
  expect(read).toContain('10 companions');
});
