import { type Parsed, parsed, problem, quoted } from '../parsed.ts';

/** A length of time, and how the user wrote it. */
export interface Duration {
  readonly ms: number;
  readonly text: string;
}

const UNITS_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Longest duration in days. Far below it, sums with a time of day are still exact. */
const MOST_DAYS = 365;

/** `500ms`, `30s`, `1h30m`, `1d`, or a bare number of seconds. */
export function parseDuration(text: string): Parsed<Duration> {
  const withUnit = /^\d+(\.\d+)?$/.test(text) ? `${text}s` : text;
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(withUnit)) {
    return problem(`${quoted(text)} is not a duration; write for example 500ms, 30s, 1h30m or 1d`);
  }
  const parts = [...withUnit.matchAll(/([\d.]+)([a-z]+)/g)];
  const partMs = ([, number, unit]: readonly string[]) =>
    Number(number) * UNITS_MS[unit as keyof typeof UNITS_MS];
  const ms = parts.reduce((total, part) => total + partMs(part), 0);
  return ms <= MOST_DAYS * UNITS_MS.d
    ? parsed({ ms, text })
    : problem(`${quoted(text)} is too long; write at most ${MOST_DAYS}d`);
}
