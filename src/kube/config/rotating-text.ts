import { readFileSync } from 'node:fs';
import type { Clock } from '../../clock/clock.ts';
import type { TextSource } from './cluster.ts';

/**
 * Longest age (ms) of what was read from a file. As in client-go; kubelet rotates tokens earlier.
 */
const REREAD_MS = 60_000;

/**
 * A text that somebody may rotate: a projected token, a certificate from cert-manager. The file is
 * read on demand, at most once a minute, or at once by `reread`; there is no timer and no watcher.
 * The first read throws what `fs` throws. If a later one fails or finds the file empty (somebody is
 * writing it), the last good text stays. Reads are synchronous: the files have a few KiB.
 */
export class RotatingText {
  readonly #source: TextSource;
  readonly #clock: Clock;
  #text: string | undefined;
  #readAt = 0;

  constructor(source: TextSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
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
    this.#readAt = this.#clock.now();
    try {
      const text = readFileSync(this.#source.path, 'utf8').trim();
      if (text !== '' || this.#text === undefined) this.#text = text;
    } catch (error) {
      if (this.#text === undefined) throw error;
    }
    return this.#text;
  }
}
