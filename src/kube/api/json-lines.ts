/**
 * Longest line (bytes). A line of a watch holds one object; the API server accepts requests of up
 * to 3 MiB, and etcd objects of up to 1.5 MiB.
 */
const LONGEST_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/** A line is longer than any object can be. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

/**
 * Splits a stream of bytes into lines, however the network cut it into chunks. No byte of a
 * multi-byte UTF-8 character equals a newline, so each line can be decoded by itself. Keeps at most
 * one unfinished line.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #unfinished: Buffer[] = [];
  #unfinishedBytes = 0;

  constructor(maxBytes: number = LONGEST_LINE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines that `chunk` completes, without newlines and without blank lines. Throws
   * {@link LineTooLongError}.
   */
  *push(chunk: Buffer): Generator<string, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#finish(chunk.subarray(start, end));
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    this.#keep(chunk.subarray(start));
  }

  /** True while the last line has no newline yet: a stream that ends here is truncated. */
  get isInsideLine(): boolean {
    return this.#unfinishedBytes > 0;
  }

  #finish(rest: Buffer): string {
    this.#keep(rest);
    const [only, ...more] = this.#unfinished;
    const line =
      only === undefined ? '' : (more.length === 0 ? only : Buffer.concat(this.#unfinished)).toString();
    this.#unfinished = [];
    this.#unfinishedBytes = 0;
    return line;
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#unfinishedBytes += part.length;
    if (this.#unfinishedBytes > this.#maxBytes) {
      throw new LineTooLongError(`a line is longer than ${this.#maxBytes} bytes`);
    }
    this.#unfinished.push(part);
  }
}
