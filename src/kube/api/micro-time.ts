/** A time as `metav1.MicroTime`: RFC 3339 with six decimals. */
export function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}
