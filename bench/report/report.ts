import { readFileSync } from 'node:fs';
import type { Figure, SubjectName } from './figure.ts';

/** One figure of one subject, over all runs. */
export interface Measured extends Omit<Figure, 'value'> {
  readonly scenario: string;
  readonly subject: SubjectName;
  /** One for each run that succeeded. */
  readonly values: readonly RunValue[];
}

interface RunValue {
  readonly run: number;
  readonly value: number;
}

/** One run of a scenario with one subject. */
export interface Session {
  readonly scenario: string;
  readonly subject: SubjectName;
  readonly run: number;
  /** Share of the machine's processor time that unrelated processes used, 0 to 1. */
  readonly otherLoad: number;
  /** Why there are no figures. */
  readonly failure?: string;
}

export interface Report {
  /** When it started, RFC 3339. */
  readonly at: string;
  readonly machine: Readonly<Record<string, string>>;
  readonly quick: boolean;
  readonly measured: readonly Measured[];
  readonly sessions: readonly Session[];
}

/** Collects figures as they come in. */
export class Results {
  readonly #measured = new Map<string, Omit<Measured, 'values'> & { readonly values: RunValue[] }>();
  readonly #sessions: Session[] = [];

  add(session: Session, figures: readonly Figure[]): void {
    this.#sessions.push(session);
    const { scenario, subject, run } = session;
    for (const { value, ...figure } of figures) {
      const key = JSON.stringify([scenario, figure.name, subject]);
      const known = this.#measured.get(key) ?? { ...figure, scenario, subject, values: [] };
      this.#measured.set(key, known);
      known.values.push({ run, value });
    }
  }

  report(about: Pick<Report, 'at' | 'machine' | 'quick'>): Report {
    return { ...about, measured: [...this.#measured.values()], sessions: this.#sessions };
  }
}

export function readReport(path: string): Report {
  return JSON.parse(readFileSync(path, 'utf8')) as Report;
}

/** One report of several: the scenarios of a later one replace those of the earlier ones. */
export function merged(first: Report, ...later: readonly Report[]): Report {
  return later.reduce((before, after) => {
    const again = new Set(after.sessions.map(({ scenario }) => scenario));
    const kept = <T extends { readonly scenario: string }>(all: readonly T[]) =>
      all.filter(({ scenario }) => !again.has(scenario));
    return {
      ...after,
      quick: before.quick || after.quick,
      measured: [...kept(before.measured), ...after.measured],
      sessions: [...kept(before.sessions), ...after.sessions],
    };
  }, first);
}
