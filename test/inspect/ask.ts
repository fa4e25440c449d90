import { runProgram } from '../../src/cli/program.ts';
import type { Row } from '../../src/inspect/report.ts';
import { type MemoryIo, memoryIo } from '../cli/memory-io.ts';
import type { World } from '../controller/world.ts';

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The flags with which a command sees only this world, as its controller does. */
export function scopeOf(world: World, kubeconfig = world.place.kubeconfigPath): readonly string[] {
  const bounds = [`--allow-target-namespaces=${world.full('*')}`, `--domain=${world.domain}`];
  return [`--kubeconfig=${kubeconfig}`, ...bounds];
}

/** `plan`, `status` or `explain` with these arguments, about this world, to its end. */
export async function ask(
  world: World,
  args: readonly string[],
  io: MemoryIo = memoryIo(),
  calledAs?: string,
): Promise<Answer> {
  const [command = '', ...others] = args;
  const code = await runProgram([command, ...scopeOf(world), ...others], io, calledAs);
  return { code, out: io.out(), err: io.err() };
}

/** Its answer as rows, with short names as everywhere in tests of a {@link World}. */
export async function rowsOf(
  world: World,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly rows: readonly Row[] }> {
  const { code, out, err } = await ask(world, [...args, '--output=json']);
  if (err !== '') throw new Error(`${args.join(' ')}: ${err}`);
  return { code, rows: JSON.parse(short(world, out)) };
}

/**
 * How a printed command repeats {@link scopeOf}: all of it if it is one of ours, or for kubectl.
 */
export function repeatedScope(world: World): { readonly ours: string; readonly kubectl: string } {
  const kubectl = ` --kubeconfig ${world.place.kubeconfigPath}`;
  const bounds = ` --allow-target-namespaces '${world.full('*')}' --domain ${world.domain}`;
  return { ours: kubectl + bounds, kubectl };
}

/** A text without the world's own prefix and domain, and without what commands repeat. */
export function short(world: World, text: string): string {
  const { prefix } = world.place;
  const { ours, kubectl } = repeatedScope(world);
  return text
    .replaceAll(ours, '')
    .replaceAll(kubectl, '')
    .replaceAll(world.domain, 'workshop.io')
    .replaceAll(prefix, '');
}

/** One line a row. */
export function inWords(rows: readonly Row[]): readonly string[] {
  return rows.map(
    ({ source, companion, action, state, reason }) =>
      `${source} → ${companion}: ${state}, ${action}; ${reason}`,
  );
}
