/** Fields that are part of every record, or have a place of their own in the sentence. */
const PLACED = new Set([
  ...['level', 'time', 'msg', 'source', 'namespace', 'informer'],
  ...['companion', 'reason', 'error', 'durationMs', 'retryInMs'],
]);

/**
 * A log record as a sentence for a person (SPEC O4): whom it concerns, what happened, why, how long it took, what comes next;
 * then whatever else it holds. `colors: companion team-a/colors-synced created: it did not exist, 3 ms`.
 */
export function sentence(record: Readonly<Record<string, unknown>>): string {
  const { msg, companion, reason, error, durationMs, retryInMs } = record;
  const message = String(msg);
  const subject = record['source'] ?? record['namespace'] ?? record['informer'];
  const others = Object.entries(record).filter(([name, value]) => !PLACED.has(name) && value !== undefined);
  return [
    subject === undefined ? '' : `${subject}: `,
    companion === undefined ? message : naming(message, String(companion)),
    reason === undefined ? '' : `: ${reason}`,
    error === undefined ? '' : `: ${error}`,
    durationMs === undefined ? '' : `, ${durationMs} ms`,
    retryInMs === undefined ? '' : `; next attempt in ${inWords(Number(retryInMs))}`,
    others.length === 0 ? '' : ` (${others.map(([name, value]) => `${name} ${textOf(value)}`).join(', ')})`,
  ].join('');
}

/** The companion's key behind the word, where the message begins with it. */
function naming(message: string, companion: string): string {
  return message.startsWith('companion ')
    ? `companion ${companion}${message.slice('companion'.length)}`
    : `${message} (companion ${companion})`;
}

function inWords(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
