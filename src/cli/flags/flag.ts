import { type Kind, SWITCH } from './values.ts';

/** A flag, written once, for the command line, the environment, the file and the help. */
export interface Flag<T> {
  readonly kind: Kind<T>;
  /** In the flag's own notation; without one the value may be absent. */
  readonly default?: string | undefined;
  readonly describe: string;
  /** One letter: `n` for `-n`. */
  readonly alias?: string;
  /** Shown instead of the default where that depends on something. */
  readonly defaultDescription?: string;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;

/** The values of a table of flags, under the flags' own names. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F]: F[K] extends Flag<infer T>
    ? undefined extends F[K]['default']
      ? T | undefined
      : T
    : never;
};

export const flag = <T, const D extends string | undefined = undefined>(
  value: Omit<Flag<T>, 'default'> & { readonly default?: D },
) => value as Flag<T> & { readonly default: D };

export const off = (describe: string) => flag({ kind: SWITCH, default: 'false', describe });
