import { COMPANION_STATES, type CompanionState } from '../../mirror/explain/inventory.ts';
import { type Parsed, parsed, problem } from '../../mirror/parsed.ts';
import { parseDuration } from '../../mirror/request/duration.ts';
import { isObjectName } from '../../mirror/request/object-name.ts';
import {
  commaList,
  includesNothing,
  type NamespacePatterns,
  parseNamespacePatterns,
} from '../../mirror/request/patterns.ts';

/** What a flag takes. The problems of `parse` complete the sentence "--flag: …". */
export interface Kind<T> {
  /** For the help. */
  readonly name: string;
  readonly parse: (text: string) => Parsed<T>;
  /** Commas and repeats make a list. */
  readonly list?: true;
  /** Every possible value, if there are few; for completion. */
  readonly choices?: readonly string[];
}

const UNITS_BYTES = { '': 1, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, K: 1e3, M: 1e6, G: 1e9 } as const;

/** On or off. The flag alone is on. */
export const SWITCH: Kind<boolean> = {
  name: 'switch',
  choices: ['true', 'false'],
  parse: (text) => {
    if (['true', '1'].includes(text)) return parsed(true);
    if (['false', '0'].includes(text)) return parsed(false);
    return problem(`"${text}" is neither true nor false; write true, 1, false or 0`);
  },
};

/** The result is milliseconds. */
export const DURATION: Kind<number> = {
  name: 'duration',
  parse: (text) => {
    const duration = parseDuration(text);
    return duration.ok ? parsed(duration.value.ms) : duration;
  },
};

/** More often, the canary would be a load, and flapping (SPEC D7). */
const LEAST_CANARY_INTERVAL_MS = 10_000;

/** Never (0), or a number of milliseconds. */
export const CANARY_INTERVAL: Kind<number> = {
  name: 'duration',
  parse: (text) => {
    const ms = DURATION.parse(text);
    if (!ms.ok || ms.value === 0 || ms.value >= LEAST_CANARY_INTERVAL_MS) return ms;
    return problem(`"${text}" is too often; write at least 10s, or 0 for never`);
  },
};

/** `64Mi`, `1Gi`, `500K`, `64B`, `0`; the result is bytes. A bare number hardly means them. */
export const SIZE: Kind<number> = {
  name: 'size',
  parse: (text) => {
    const [, number, prefix = '', bytes] = /^(\d+(?:\.\d+)?)(Ki|Mi|Gi|K|M|G)?(B?)$/.exec(text) ?? [];
    if (number === undefined) return problem(`"${text}" is not a size; write for example 64Mi or 1Gi`);
    if (prefix === '' && bytes === '' && Number(number) > 0) {
      return problem(`"${text}" has no unit; write ${text}Mi for mebibytes, or ${text}B for bytes`);
    }
    return parsed(Math.floor(Number(number) * UNITS_BYTES[prefix as keyof typeof UNITS_BYTES]));
  },
};

export interface Address {
  /** Undefined: all of the machine's. */
  readonly host: string | undefined;
  readonly port: number;
}

/** `:8080`, `127.0.0.1:8080`, `[::1]:8080`; empty: none. */
export const ADDRESS: Kind<Address | undefined> = {
  name: 'address',
  parse: (text) => {
    if (text === '') return parsed(undefined);
    const [, ipv6, host, port] = /^(?:\[([\da-fA-F:.]+)\]|([-\w.]*)):(\d{1,5})$/.exec(text) ?? [];
    return port !== undefined && Number(port) <= 65_535
      ? parsed({ host: ipv6 ?? (host || undefined), port: Number(port) })
      : problem(
          `"${text}" is not an address; write :8080, 127.0.0.1:8080 or [::1]:8080, or nothing for none`,
        );
  },
};

export function wholeNumber(minimum: number, maximum: number): Kind<number> {
  const parse = (text: string) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum
      ? parsed(value)
      : problem(`"${text}" is not a whole number from ${minimum} to ${maximum}`);
  };
  return { name: 'number', parse };
}

export function choice<const C extends string>(...choices: readonly C[]): Kind<C> {
  const parse = (text: string) => {
    const found = choices.find((candidate) => candidate === text);
    return found === undefined ? problem(`"${text}" is not one of ${choices.join(', ')}`) : parsed(found);
  };
  return { name: choices.join('|'), parse, choices };
}

/** Any text that is not empty. */
export function text(name: string): Kind<string> {
  return { name, parse: (value) => (value === '' ? problem('it is empty') : parsed(value)) };
}

/** At least one text. */
export function list(name: string): Kind<readonly string[]> {
  const parse = (value: string) => {
    const items = value.split(',').filter((item) => item !== '');
    return items.length === 0 ? problem('it is empty') : parsed(items);
  };
  return { name, parse, list: true };
}

/** States of companions; `in-sync` saves the quotes. */
export const STATES: Kind<ReadonlySet<CompanionState>> = {
  name: 'states',
  list: true,
  choices: COMPANION_STATES.map((state) => state.replaceAll(' ', '-')),
  parse: (value) => {
    const states = new Set<CompanionState>();
    for (const item of commaList(value).map((each) => each.replaceAll('-', ' '))) {
      const state = COMPANION_STATES.find((known) => known === item);
      if (state === undefined) {
        return problem(`"${item}" is not one of ${COMPANION_STATES.join(', ')}`);
      }
      states.add(state);
    }
    return states.size === 0 ? problem('it is empty') : parsed(states);
  },
};

export const OBJECT_NAME = checked(
  'name',
  isObjectName,
  'cannot be the name of an object; write lower-case letters, digits, "-" and "."',
);

export const NAMESPACE = checked(
  'name',
  (text) => isObjectName(text) && /^[^.]{1,63}$/.test(text),
  'cannot be the name of a namespace; write at most 63 lower-case letters, digits and "-"',
);

/**
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
 */
export const DOMAIN = checked(
  'domain',
  isObjectName,
  'cannot be the prefix of a label; write a domain in lower case, such as workshop.io',
);

/** `fix`: what is wrong with another text, and how to fix it. */
function checked(name: string, isValid: (text: string) => boolean, fix: string): Kind<string> {
  return { name, parse: (text) => (isValid(text) ? parsed(text) : problem(`"${text}" ${fix}`)) };
}

/** At least one. An empty list, as of an unset variable, must not watch all or protect nothing. */
export const PATTERNS: Kind<NamespacePatterns> = {
  name: 'patterns',
  list: true,
  parse: (list) => {
    const patterns = parseNamespacePatterns(list, { exclusions: false });
    const isEmpty = patterns.ok && includesNothing(patterns.value);
    return isEmpty ? problem('it names no namespace; name at least one, or leave the flag out') : patterns;
  },
};

/** Exact names. */
export const NAMESPACES: Kind<ReadonlySet<string>> = {
  name: 'names',
  list: true,
  parse: (list) => {
    const patterns = PATTERNS.parse(list);
    if (!patterns.ok) return patterns;
    const { names, prefixes } = patterns.value;
    if (prefixes.length === 0) return parsed(names);
    return problem(`"${list}": write exact names, because each namespace has a watch of its own`);
  },
};
