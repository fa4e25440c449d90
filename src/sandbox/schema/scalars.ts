/**
 * Scalars with a special form: times and base64. Errors have the words of Go's standard library.
 */

const SECONDS = '2006-01-02T15:04:05Z07:00';
const MICROS = '2006-01-02T15:04:05.000000Z07:00';
const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Thrown with Go's words for an invalid value. */
export class ScalarError extends Error {
  override readonly name = 'ScalarError';
}

const cannotParse = (value: string, layout: string, at: string, part: string): ScalarError =>
  new ScalarError(
    `parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(at)} as ${JSON.stringify(part)}`,
  );

/** Epoch milliseconds (fraction cut off), and the digits of the fraction. */
function parseTime(value: string, layout: string): { readonly ms: number; readonly fraction: string } {
  const match = RFC3339.exec(value);
  if (!match) throw cannotParse(value, layout, value, '2006');
  const ms = Date.parse(value.replace(/\.\d+/, ''));
  if (Number.isNaN(ms)) {
    throw new ScalarError(`parsing time ${JSON.stringify(value)}: day out of range`);
  }
  return { ms, fraction: (match[7] ?? '').slice(1) };
}

const isoSeconds = (ms: number): string => new Date(ms).toISOString().slice(0, 19);

/** metav1.Time: whole seconds in UTC. */
export function normaliseTime(value: string): string {
  return `${isoSeconds(parseTime(value, SECONDS).ms)}Z`;
}

/**
 * metav1.MicroTime: needs exactly six fractional digits (kubernetes/kubernetes#141204 would relax
 * it).
 */
export function normaliseMicroTime(value: string): string {
  const { ms, fraction } = parseTime(value, MICROS);
  if (fraction.length !== 6) {
    const rest = value.slice(19);
    throw fraction.length > 6
      ? cannotParse(value, MICROS, rest.slice(7), 'Z07:00')
      : cannotParse(value, MICROS, rest, '.000000');
  }
  return `${isoSeconds(ms)}.${fraction}Z`;
}

export const timeOf = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;

/** Canonical base64 from what Go's strict standard decoder accepts (it skips line breaks). */
export function normaliseBase64(value: string): string {
  const compact = /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value;
  const wrong = compact.search(/[^A-Za-z0-9+/]/);
  const body = wrong === -1 ? compact : compact.slice(0, wrong);
  const padding = compact.slice(body.length);
  const expected = ['', undefined, '==', '='][body.length % 4];
  if (padding !== expected) {
    throw new ScalarError(`illegal base64 data at input byte ${illegalByte(body, padding)}`);
  }
  return Buffer.from(compact, 'base64').toString('base64');
}

/** The position that Go's decoder reports. */
function illegalByte(body: string, padding: string): number {
  if (padding === '') return body.length - (body.length % 4);
  const paddingFits = body.length % 4 >= 2 && padding.startsWith('=');
  return paddingFits ? Math.min(body.length + 1, body.length + padding.length) : body.length;
}
