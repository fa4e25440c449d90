/** A watch line holds one object; the API server takes no request above 3 MiB, and etcd no object above 1.5 MiB. */
const LONGEST_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/** A line is longer than any object can be. */
export class LineTooLongError extends Error {
  override readonly name = 'LineTooLongError';
}

/**
 * Cuts a stream of bytes into lines, wherever the network cut it into chunks. It cuts bytes, not text: no byte of a
 * multi-byte UTF-8 character equals a newline, so each line decodes whole. Holds at most one unfinished line.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #unfinished: Buffer[] = [];
  #unfinishedBytes = 0;

  constructor(maxBytes: number = LONGEST_LINE_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that `chunk` completes, without their newlines; blank ones are left out. Throws {@link LineTooLongError}. */
  *push(chunk: Buffer): Generator<string, void, undefined> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = this.#finish(chunk.subarray(start, end));
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    this.#keep(chunk.subarray(start));
  }

  /** True while the last line lacks its newline: a stream that ends here was cut. */
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
