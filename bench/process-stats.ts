import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';

/** Kernel ticks a second in /proc: fixed for user space on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Processor time used by a process so far, all its threads, in seconds (resolution 0.01). */
export function cpuSeconds(pid: number): number {
  const [, , , , , , , , , , , user, system] = statFields(pid);
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

/** The same of all children of this process that have ended, and of theirs. */
export function cpuSecondsOfChildren(): number {
  const [, , , , , , , , , , , , , user, system] = statFields(process.pid);
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

/** From the third field of proc(5)'s stat on: the second, the command in parentheses, may hold blanks. */
function statFields(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
}

export interface Memory {
  /** Resident set, MiB. */
  readonly rss: number;
  /** Its highest value so far, MiB. */
  readonly peak: number;
}

export function memory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { rss: mib('VmRSS'), peak: mib('VmHWM') };
}

/** The process whose arguments hold `argument`; throws when there is none. */
export function findProcess(argument: string): number {
  const pid = readdirSync('/proc').find((entry) => /^\d+$/.test(entry) && isRunWith(entry, argument));
  if (pid === undefined) throw new Error(`no process was started with ${argument}`);
  return Number(pid);
}

function isRunWith(pid: string, argument: string): boolean {
  try {
    const [command = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    // The shell that watches over a server of ours has the server's arguments, too.
    return !command.endsWith('/sh') && args.includes(argument);
  } catch {
    return false;
  }
}

/** Processor time of the whole machine that went to something, in seconds. */
export function busySeconds(): number {
  const [user, nice, system, , , irq, softirq, steal] =
    /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ').map(Number) ?? [];
  const ticks = [user, nice, system, irq, softirq, steal].reduce<number>(
    (sum, value) => sum + (value ?? 0),
    0,
  );
  return ticks / TICKS_PER_SECOND;
}
