import { LRUCache } from 'lru-cache';
import type { EventApi } from '../kube/api/events.ts';
import { microTime } from '../kube/api/micro-time.ts';
import { type ObjectKey, splitKey } from '../kube/api/object-key.ts';
import { isAlreadyExists, isForbidden, isNamespaceTerminating, isNotFound } from '../kube/errors.ts';
import type { Logger } from '../telemetry/logger.ts';
import { eventKey, noteOf, type Told } from './occurrence.ts';

export interface EventWriterDeps {
  readonly api: EventApi;
  /** A qualified name such as `example.com/controller`. */
  readonly controller: string;
  /** Which of its processes, at most 128 characters. */
  readonly instance: string;
  readonly log: Logger;
}

/** What the server has of an Event. */
interface Written {
  readonly note: string;
  readonly count: number;
}

/** Events that are remembered, as many as client-go remembers. */
const REMEMBERED = 4096;
/** Missing rights that are reported at once. */
const MOST_REPORTED = 10;
const NOT_PERMITTED = 'Events cannot be written: grant the missing right';

/**
 * Writes Events. The first occurrence creates one, further ones increase the count in its `series`.
 * Another text goes through core/v1, because in events.k8s.io/v1 a note cannot change.
 */
export class EventWriter {
  readonly #deps: EventWriterDeps;
  readonly #written = new LRUCache<ObjectKey, Written>({ max: REMEMBERED });
  /** Those that are reported, each with its namespace. */
  readonly #missingRights = new Set<string>();

  constructor(deps: EventWriterDeps) {
    this.#deps = deps;
  }

  /** Makes one or more requests. Safe to repeat. Rejects with what the API throws. */
  async write(told: Told, signal: AbortSignal): Promise<void> {
    const key = eventKey(told.latest);
    const known = this.#written.get(key);
    if (known === undefined) return this.#create(key, told, signal);
    try {
      await this.#continue(key, known, told, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // The server forgets Events after an hour.
      this.#written.delete(key);
      await this.#create(key, told, signal);
    }
  }

  /** Another process may have written to the Events: what is there is seen again. */
  forget(): void {
    this.#written.clear();
  }

  async #create(key: ObjectKey, told: Told, signal: AbortSignal): Promise<void> {
    const { api, controller, instance } = this.#deps;
    const { latest, count, firstAt, lastAt } = told;
    const note = noteOf(told);
    const event = {
      metadata: splitKey(key),
      ...latest,
      note,
      eventTime: microTime(firstAt),
      ...(count > 1 && { series: { count, lastObservedTime: microTime(lastAt) } }),
      reportingController: controller,
      reportingInstance: instance,
    };
    try {
      await this.#permitted('create events.events.k8s.io', key, api.create(event, signal));
      this.#written.set(key, { note, count });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await this.#adopt(key, told, signal);
    }
  }

  /** An earlier process or another replica has made the Event, or a lost reply hid that we did. */
  async #adopt(key: ObjectKey, told: Told, signal: AbortSignal): Promise<void> {
    const { api } = this.#deps;
    const message = noteOf(told);
    // An answer to a patch also shows what is there, so that no right to read is needed.
    const found = await this.#permitted('patch events', key, api.patchMessage(key, { message }, signal));
    const before = { note: message, count: found.series?.count ?? 1 };
    this.#written.set(key, before);
    const isOurs = Date.parse(found.eventTime ?? '') === told.firstAt.getTime();
    if (!isOurs) await this.#continue(key, before, told, signal);
  }

  async #continue(key: ObjectKey, before: Written, told: Told, signal: AbortSignal): Promise<void> {
    const { api } = this.#deps;
    const written = { note: noteOf(told), count: before.count + told.count };
    const series = { count: written.count, lastObservedTime: microTime(told.lastAt) };
    if (written.note === before.note) {
      await this.#permitted('patch events.events.k8s.io', key, api.patchSeries(key, series, signal));
    } else {
      const change = { message: written.note, series };
      await this.#permitted('patch events', key, api.patchMessage(key, change, signal));
    }
    this.#written.set(key, written);
  }

  /**
   * Reports a right that is missing in the Event's namespace once, and when it is granted. `right`:
   * verb and resource, as in `kubectl auth can-i`.
   */
  async #permitted<T>(right: string, key: ObjectKey, answer: Promise<T>): Promise<T> {
    const { log } = this.#deps;
    const { namespace } = splitKey(key);
    const id = `${right} ${namespace}`;
    const missing = this.#missingRights;
    try {
      const answered = await answer;
      if (missing.delete(id)) log.info({ right, namespace, was: NOT_PERMITTED }, 'resolved');
      return answered;
    } catch (error) {
      const isMissing = isForbidden(error) && !isNamespaceTerminating(error);
      if (isMissing && !missing.has(id) && missing.size < MOST_REPORTED) {
        missing.add(id);
        log.warn({ right, namespace, err: error }, NOT_PERMITTED);
      }
      throw error;
    }
  }
}
