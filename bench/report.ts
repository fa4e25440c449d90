import { readFileSync } from 'node:fs';
import type { Figure, SubjectName } from './scenario.ts';

/** One figure of one subject, over all runs. */
export interface Measured extends Omit<Figure, 'value'> {
  readonly scenario: string;
  readonly subject: SubjectName;
  /** Of each run that succeeded. */
  readonly values: readonly RunValue[];
}

interface RunValue {
  readonly run: number;
  readonly value: number;
}

/** One measurement of a scenario with a subject: how far to trust it. */
export interface Session {
  readonly scenario: string;
  readonly subject: SubjectName;
  readonly run: number;
  /** Share of the machine that others used meanwhile, 0 to 1. */
  readonly foreignLoad: number;
  /** Why there are no figures. */
  readonly failure?: string;
}

export interface Report {
  /** When it began, RFC 3339. */
  readonly at: string;
  readonly machine: Readonly<Record<string, string>>;
  readonly quick: boolean;
  readonly measured: readonly Measured[];
  readonly sessions: readonly Session[];
}

/** Gathers figures as they come. */
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
