/** A page of a first list, of which nothing is known yet: also of the largest ConfigMaps it is parsed in about 50 ms. */
export const FIRST_PAGE_LIMIT = 10;
const LARGEST_PAGE_LIMIT = 100;
/** Parsed in about 20 ms. */
const PAGE_BYTES = 4 * 1024 * 1024;

/**
 * How many objects to ask for after a page of `objects` in `bytes`: a page is parsed in one turn of the event loop, which
 * the largest objects (1 MiB) would keep for half a second if they came by the hundred.
 */
export function nextPageLimit(objects: number, bytes: number): number {
  if (objects === 0) return LARGEST_PAGE_LIMIT;
  const fitting = Math.floor((PAGE_BYTES * objects) / bytes);
  return Math.min(Math.max(fitting, 1), LARGEST_PAGE_LIMIT);
}
