import { readFileSync } from 'node:fs';
import type { Clock } from '../../clock/clock.ts';
import type { Material } from './cluster.ts';

/** client-go reads token files this often; kubelet rotates them well before they expire. */
const REREAD_MS = 60_000;

/**
 * A text that may be rotated under our feet: a projected token, a certificate of cert-manager's. The file is
 * read at most once a minute, or at once by `reread`, and only when somebody asks: no timer, no watcher. The
 * first read throws what `fs` throws; a later one that fails, or finds the file empty (a writer at work),
 * keeps the last good text. Reads are synchronous: these files are a few KiB, and nobody has to await them.
 */
export class RotatingText {
  readonly #source: Material;
  readonly #clock: Clock;
  #text: string | undefined;
  #readAt = 0;

  constructor(source: Material, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** The trimmed text. */
  current(): string {
    const isFresh = this.#text !== undefined && this.#clock.now() - this.#readAt < REREAD_MS;
    return isFresh && this.#text !== undefined ? this.#text : this.reread();
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
