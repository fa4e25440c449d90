import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';

/** Ticks per second in /proc; the same on every architecture that Node supports. */
const TICKS_PER_SECOND = 100;

/** Processor time (s, in steps of 0.01) that all threads of a process have used. */
export function cpuSeconds(pid: number): number {
  const [, , , , , , , , , , , user, system] = statFields(pid);
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

/** The same for all ended children of this process, and theirs. */
export function cpuSecondsOfChildren(): number {
  const [, , , , , , , , , , , , , user, system] = statFields(process.pid);
  return (Number(user) + Number(system)) / TICKS_PER_SECOND;
}

/** The fields of proc(5)'s stat from the third on; the second, the command, may contain blanks. */
function statFields(pid: number): readonly string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
}

export interface Memory {
  /** Resident set (MiB). */
  readonly rss: number;
  /** Its peak so far (MiB). */
  readonly peak: number;
}

export function memory(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { rss: mib('VmRSS'), peak: mib('VmHWM') };
}

/** Pid of the process with this argument; throws when there is none. */
export function findProcess(argument: string): number {
  const pid = readdirSync('/proc').find((entry) => /^\d+$/.test(entry) && isRunWith(entry, argument));
  if (pid === undefined) throw new Error(`no process was started with ${argument}`);
  return Number(pid);
}

function isRunWith(pid: string, argument: string): boolean {
  try {
    const [command = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    // The shell that supervises a server has the server's arguments, too.
    return !command.endsWith('/sh') && args.includes(argument);
  } catch {
    return false;
  }
}

/** Processor time (s) of the whole machine that was not idle. */
export function busySeconds(): number {
  const [user, nice, system, , , irq, softirq, steal] =
    /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]?.split(' ').map(Number) ?? [];
  const ticks = [user, nice, system, irq, softirq, steal].reduce<number>(
    (sum, value) => sum + (value ?? 0),
    0,
  );
  return ticks / TICKS_PER_SECOND;
}
