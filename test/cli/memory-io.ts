import { Readable, Writable } from 'node:stream';
import type { ProcessIo } from '../../src/cli/io.ts';

export interface MemoryIo extends ProcessIo {
  readonly out: () => string;
  readonly err: () => string;
  readonly stop: () => void;
}

/** A process that writes to memory and stops when told to. */
export function memoryIo(env: Readonly<Record<string, string>> = {}): MemoryIo {
  const stdout = new MemoryStream();
  const stderr = new MemoryStream();
  const stop = new AbortController();
  return {
    stdin: Readable.from([]),
    stdout,
    stderr,
    env: { HOME: '/nonexistent', ...env },
    signal: stop.signal,
    out: () => stdout.text,
    err: () => stderr.text,
    stop: () => stop.abort(),
  };
}

class MemoryStream extends Writable {
  text = '';

  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}
