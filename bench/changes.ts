import type { Observer, Seen } from './observer.ts';
import type { World } from './world.ts';

/** What people do to the sources and companions of one namespace; each returns the milliseconds until all was well again. */
export class Changes {
  readonly #world: World;
  readonly #observer: Observer;
  readonly #namespace: string;
  /** `data.version` of each source. */
  readonly #versions = new Map<string, string>();
  #edits = 0;

  /** `observer` sees the namespace's companions with their data. */
  constructor(world: World, observer: Observer, namespace: string) {
    this.#world = world;
    this.#observer = observer;
    this.#namespace = namespace;
  }

  /** Edits the source. */
  edit(source: string): Promise<number> {
    this.#edits += 1;
    const version = `edit-${this.#edits}`;
    this.#versions.set(source, version);
    const change = () => this.#world.load.edit(this.#namespace, source, version);
    return this.#observer.latency(change, this.#isWell(source));
  }

  /** Edits its companion by hand; once for each, since one that is tampered with again and again is backed off, and rightly. */
  tamper(source: string): Promise<number> {
    const change = () => this.#world.load.edit(this.#namespace, `${source}-synced`, 'by hand');
    return this.#observer.latency(change, this.#isWell(source));
  }

  /** Deletes its companion; once for each, likewise. */
  remove(source: string): Promise<number> {
    const change = () => this.#world.load.delete(this.#namespace, `${source}-synced`);
    return this.#observer.latency(change, this.#isWell(source));
  }

  #isWell(source: string): (seen: Seen) => boolean {
    const version = this.#versions.get(source) ?? '0';
    return ({ type, object }) =>
      type !== 'DELETED' && object.metadata.name === `${source}-synced` && object.data['version'] === version;
  }
}
