import type { Logger } from '../telemetry/logger.ts';
import type { Stored } from './lister.ts';

/**
 * Called for every change once the store holds it. Changes to one key come in order, those to
 * different keys in any order. Several changes that happened while the watch was away come as one.
 * Called synchronously, so do little: enqueue a key. An exception is logged and affects no other
 * handler.
 */
export interface Handler<S extends Stored> {
  /**
   * A key that was not there. The items of the first list are added once the store holds the whole
   * list.
   */
  add(item: S): void;
  /** A later state of the same object (the same uid). After a restart of the history: any state. */
  update(old: S, item: S): void;
  /**
   * `item` is the last known state. With `tombstone` the deletion was inferred, from a new list or
   * from another uid under the same name, so states after `item` may have been missed.
   */
  delete(item: S, tombstone: boolean): void;
  /**
   * The server's history started over, for instance because its etcd was restored from a backup:
   * forget everything that you know by resourceVersion. The store holds a new list. An add, update
   * or delete for every item, old and new, follows, also where the resourceVersion is the same: its
   * content may differ. With several scopes, each notices for itself.
   */
  historyRestarted?(): void;
}

/** The handlers of one informer, each protected from the others' exceptions. */
export class HandlerSet<S extends Stored> {
  readonly #handlers: Handler<S>[] = [];
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(handler: Handler<S>): void {
    this.#handlers.push(handler);
  }

  /** Reports that a key which held `before` now holds `after`. The same item is no change. */
  changed(before: S | undefined, after: S | undefined, tombstone: boolean): void {
    if (before === after) return;
    if (before === undefined) {
      if (after !== undefined) this.#each((handler) => handler.add(after), after);
    } else if (after === undefined) {
      this.#each((handler) => handler.delete(before, tombstone), before);
    } else if (before.uid !== after.uid) {
      // The object was deleted and recreated in between. Handlers must release the old uid first.
      this.changed(before, undefined, true);
      this.changed(undefined, after, false);
    } else {
      this.#each((handler) => handler.update(before, after), after);
    }
  }

  historyRestarted(): void {
    this.#each((handler) => handler.historyRestarted?.());
  }

  #each(call: (handler: Handler<S>) => void, item?: S): void {
    for (const handler of this.#handlers) {
      try {
        call(handler);
      } catch (err) {
        this.#log.error({ key: item?.key, err }, 'an informer handler failed and missed this change');
      }
    }
  }
}
