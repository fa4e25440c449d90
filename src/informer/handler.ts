import type { Logger } from '../telemetry/logger.ts';
import type { Stored } from './lister.ts';

/**
 * Told of every change after the store holds it. Changes to one key come in order; between two keys no
 * order holds, and several changes that happened while the watch was away come as one. Called
 * synchronously, so do little: enqueue a key. What it throws is logged and harms nobody else.
 */
export interface Handler<S extends Stored> {
  /** A key that was not there; for each item of the first list too, once the store holds the whole list. */
  add(item: S): void;
  /** Another resourceVersion of the same object (the same uid). */
  update(old: S, item: S): void;
  /**
   * `item` is the last state that was known. With `tombstone` the deletion was inferred, from a relist or
   * from another uid under the same name, so states after `item` may have been missed.
   */
  delete(item: S, tombstone: boolean): void;
}

/** The handlers of one informer, each shielded from the others. */
export class HandlerSet<S extends Stored> {
  readonly #handlers: Handler<S>[] = [];
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(handler: Handler<S>): void {
    this.#handlers.push(handler);
  }

  /** Tells what it means that a key which held `before` now holds `after`; nothing when both are the same version. */
  changed(before: S | undefined, after: S | undefined, tombstone: boolean): void {
    if (before === after) return;
    if (before === undefined) {
      if (after !== undefined) this.#each(after, (handler) => handler.add(after));
    } else if (after === undefined) {
      this.#each(before, (handler) => handler.delete(before, tombstone));
    } else if (before.uid !== after.uid) {
      // Deleted and made anew in between: whoever holds on to the old uid must let go of it first.
      this.changed(before, undefined, true);
      this.changed(undefined, after, false);
    } else if (before.resourceVersion !== after.resourceVersion) {
      this.#each(after, (handler) => handler.update(before, after));
    }
  }

  #each(item: S, call: (handler: Handler<S>) => void): void {
    for (const handler of this.#handlers) {
      try {
        call(handler);
      } catch (err) {
        this.#log.error({ key: item.key, err }, 'an informer handler threw: this change is lost to it');
      }
    }
  }
}
