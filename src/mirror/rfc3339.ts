/** A time (ms since the epoch) as the API server writes it: RFC 3339, in whole seconds. */
export function rfc3339(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
