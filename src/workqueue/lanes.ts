/**
 * `fresh`: a user may be waiting for this (an edit, a heal, a new namespace).
 * `bulk`: one of very many (the initial list, a resync, a large fan-out).
 */
export type Lane = 'fresh' | 'bulk';

/** Which lane is served next: fresh before bulk, but bulk does not starve. */
export class LaneOrder {
  readonly #freshPerBulk: number;
  #freshInARow = 0;

  /** `freshPerBulk`: fresh items in a row that may overtake a bulk one. */
  constructor(freshPerBulk: number) {
    this.#freshPerBulk = freshPerBulk;
  }

  /** Undefined if neither lane can be served. */
  next(canServe: Readonly<Record<Lane, boolean>>): Lane | undefined {
    const overtakes = canServe.fresh && canServe.bulk && this.#freshInARow < this.#freshPerBulk;
    this.#freshInARow = overtakes ? this.#freshInARow + 1 : 0;
    if (overtakes) return 'fresh';
    if (canServe.bulk) return 'bulk';
    return canServe.fresh ? 'fresh' : undefined;
  }
}
