import type { Verb } from '../verbs/resource-path.ts';

export interface RequestCount {
  readonly verb: Verb;
  readonly resource: string;
  readonly count: number;
}

/** Counts requests by verb and resource, including those that are refused. */
export class RequestCounts {
  readonly #counts = new Map<string, RequestCount>();

  add(verb: Verb, resource: string): void {
    const key = `${verb} ${resource}`;
    const count = (this.#counts.get(key)?.count ?? 0) + 1;
    this.#counts.set(key, { verb, resource, count });
  }

  all(): readonly RequestCount[] {
    return [...this.#counts.values()];
  }
}
