/**
 * Objects in the first page of a list, whose size is unknown: even the largest (1 MiB) are parsed
 * in about 50 ms.
 */
export const FIRST_PAGE_LIMIT = 10;
/** Most objects in a page. */
const LARGEST_PAGE_LIMIT = 100;
/** Size (bytes) of the later pages: parsed in about 20 ms. */
const PAGE_BYTES = 4 * 1024 * 1024;

/**
 * How many objects to request after a page of `objects` in `bytes`. A page is parsed in one turn of
 * the event loop: a hundred of the largest objects would block it for half a second.
 */
export function nextPageLimit(objects: number, bytes: number): number {
  if (objects === 0) return LARGEST_PAGE_LIMIT;
  const fitting = Math.floor((PAGE_BYTES * objects) / bytes);
  return Math.min(Math.max(fitting, 1), LARGEST_PAGE_LIMIT);
}
