import { readFileSync } from 'node:fs';
import type { Clock } from '../../clock/clock.ts';
import { NetworkError } from '../errors.ts';
import type { TextSource } from './cluster.ts';

/** Longest age (ms) of a file's text, as in client-go; kubelet rotates tokens earlier. */
const REREAD_MS = 60_000;

/**
 * A text that somebody may rotate: a projected token, a certificate from cert-manager. The file is
 * read on demand, at most once a minute, or at once by `reread`; there is no timer and no watcher.
 * If the first read fails, it throws `NetworkError` (`CREDENTIALS`). If a later one fails or finds
 * the file empty (somebody is writing it), the last good text stays. Reads are synchronous: the
 * files have a few KiB.
 */
export class RotatingText {
  readonly #source: TextSource;
  readonly #clock: Clock;
  readonly #what: string;
  #text: string | undefined;
  #readAt = 0;

  /** `what`: what it is, as the beginning of an error's message. */
  constructor(source: TextSource, clock: Clock, what: string) {
    this.#source = source;
    this.#clock = clock;
    this.#what = what;
  }

  /** The trimmed text. */
  current(): string {
    const isFresh = this.#clock.now() - this.#readAt < REREAD_MS;
    return this.#text !== undefined && isFresh ? this.#text : this.reread();
  }

  reread(): string {
    if (this.#source.kind === 'inline') {
      this.#text ??= this.#source.text.trim();
      return this.#text;
    }
    const { path } = this.#source;
    this.#readAt = this.#clock.now();
    try {
      const text = readFileSync(path, 'utf8').trim();
      if (text !== '' || this.#text === undefined) this.#text = text;
    } catch (cause) {
      if (this.#text !== undefined) return this.#text;
      throw new NetworkError(`${this.#what} cannot be read from ${path}`, { code: 'CREDENTIALS', cause });
    }
    return this.#text;
  }
}
