/** Fields that are part of every record, or have a place of their own in the sentence. */
const PLACED = new Set([
  ...['level', 'time', 'msg', 'source', 'namespace', 'informer'],
  ...['companion', 'was', 'reason', 'error', 'durationMs', 'retryInMs'],
]);

/**
 * A log record as a sentence for a person (SPEC O4): whom it concerns, what happened, why, how long
 * it took, what comes next; then whatever else it holds.
 * `home/colors: companion team-a/colors-synced created: it did not exist, 3 ms`
 */
export function sentence(record: Readonly<Record<string, unknown>>): string {
  const { msg, companion, was, reason, error, durationMs, retryInMs } = record;
  const subject = record['source'] ?? record['namespace'] ?? record['informer'];
  const others = Object.entries(record).filter(([name, value]) => !PLACED.has(name) && value !== undefined);
  const text = [
    subject === undefined ? '' : `${subject}: `,
    was === undefined ? naming(msg, companion) : `${msg}: ${naming(was, companion)}`,
    reason === undefined ? '' : `: ${reason}`,
    error === undefined ? '' : `: ${error}`,
    durationMs === undefined ? '' : `, ${inWords(Number(durationMs))}`,
    retryInMs === undefined ? '' : `; next attempt in ${inWords(Number(retryInMs))}`,
    others.length === 0
      ? ''
      : ` (${others.map(([name, value]) => `${words(name)} ${textOf(value)}`).join(', ')})`,
  ].join('');
  // It quotes texts of others, which must neither break the line nor control the terminal.
  return text.replace(/\p{Cc}+/gu, ' ');
}

/** The companion's key follows the word, if the message begins with it. */
function naming(message: unknown, companion: unknown): string {
  if (companion === undefined) return String(message);
  const [, rest] = /^companion (.*)/.exec(String(message)) ?? [];
  return rest === undefined ? `${message} (companion ${companion})` : `companion ${companion} ${rest}`;
}

/** `3 ms`, `1.5 s`, `2 min` */
function inWords(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms / 60_000)} min`;
}

/** `fieldManager` is `field manager`. */
function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
