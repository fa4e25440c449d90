import PQueue from 'p-queue';

/** Live reads, at most 16 at once. */
export class ReadQueue {
  readonly #queue = new PQueue({ concurrency: 16 });

  /** Only for what needs a read: the queue costs time for each item. */
  async each<T>(items: Iterable<T>, read: (item: T) => Promise<void>): Promise<void> {
    await this.#queue.addAll(Array.from(items, (item) => () => read(item)));
  }
}
