import type { Load } from './load.ts';
import type { Observer, Seen } from './observer.ts';

/**
 * What people do to the sources and companions of one namespace. Each method resolves to the
 * milliseconds until the companion was right again.
 */
export class TimedChanges {
  readonly #load: Load;
  readonly #observer: Observer;
  readonly #namespace: string;
  /** `data.version` of each source. */
  readonly #versions = new Map<string, string>();
  #edits = 0;

  /** `observer` sees the namespace's companions with their data. */
  constructor(load: Load, observer: Observer, namespace: string) {
    this.#load = load;
    this.#observer = observer;
    this.#namespace = namespace;
  }

  /** Edits the source. */
  edit(source: string): Promise<number> {
    this.#edits += 1;
    const version = `edit-${this.#edits}`;
    this.#versions.set(source, version);
    return this.#latency(source, () => this.#load.edit(this.#namespace, source, version));
  }

  /** Edits the companion. Call it once per source: the controller backs off from repeated edits. */
  tamper(source: string): Promise<number> {
    return this.#latency(source, () => this.#load.edit(this.#namespace, `${source}-synced`, 'by hand'));
  }

  /** Deletes the companion; once per source, too. */
  remove(source: string): Promise<number> {
    return this.#latency(source, () => this.#load.delete(this.#namespace, `${source}-synced`));
  }

  #latency(source: string, change: () => Promise<unknown>): Promise<number> {
    const version = this.#versions.get(source) ?? '0';
    const isRight = ({ type, object }: Seen) =>
      type !== 'DELETED' && object.metadata.name === `${source}-synced` && object.data['version'] === version;
    return this.#observer.latency(change, isRight);
  }
}
