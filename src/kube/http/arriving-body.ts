import type { Dispatcher } from 'undici';

/** So many bytes may wait for the reader, as with undici's own streams; then the server is made to wait. */
const MOST_WAITING_BYTES = 64 * 1024;

/** Where the body comes from. */
export type BodySource = Pick<Dispatcher.DispatchController, 'paused' | 'pause' | 'resume' | 'abort'>;

type Next = IteratorResult<Buffer, undefined>;

const DONE: Next = { done: true, value: undefined };

/**
 * The body of an answer for one reader, chunk by chunk as it arrives. Leaving the loop over it gives the answer up. Not a
 * stream of Node's: a chunk reaches who waits for it without its queues and listeners (docs/performance.md).
 */
export class ArrivingBody implements AsyncIterableIterator<Buffer, undefined> {
  readonly #source: BodySource;
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Of the `next()` that waits for a chunk; then no chunk waits in `#waiting`. */
  #reader: { readonly resolve: (next: Next) => void; readonly reject: (error: Error) => void } | undefined;
  #isOver = false;
  #failure: Error | undefined;

  constructor(source: BodySource) {
    this.#source = source;
  }

  /** A chunk has arrived. */
  push(chunk: Buffer): void {
    const reader = this.#takeReader();
    if (reader !== undefined) {
      reader.resolve({ done: false, value: chunk });
      return;
    }
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes >= MOST_WAITING_BYTES) this.#source.pause();
  }

  /** No more arrives. The reader gets what waits, and then `failure`, if there is one. */
  end(failure?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failure = failure;
    const reader = this.#takeReader();
    if (failure === undefined) reader?.resolve(DONE);
    else reader?.reject(failure);
  }

  async next(): Promise<Next> {
    const value = this.#waiting.shift();
    if (value !== undefined) {
      this.#waitingBytes -= value.length;
      if (this.#source.paused && this.#waiting.length === 0) this.#source.resume();
      return { done: false, value };
    }
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isOver) return DONE;
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
    });
  }

  async return(): Promise<Next> {
    this.#waiting.length = 0;
    if (!this.#isOver) {
      this.end();
      this.#source.abort(new Error('nobody reads on'));
    }
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeReader() {
    const reader = this.#reader;
    this.#reader = undefined;
    return reader;
  }
}
