import { type Parsed, parsed, problem, quoted } from '../parsed.ts';
import { commaList } from './patterns.ts';

const SINK_NAME = /^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/;
const NONE = 'none';

/** The names of the sinks that a source's annotation chooses. `none` is an empty list (SPEC N1). */
export function parseNotify(text: string): Parsed<readonly string[]> {
  const names = [...new Set(commaList(text))];
  if (names.length === 0) return problem('empty; name sinks, such as "ops, chat", or write "none"');
  const wrong = names.find((name) => !isSinkName(name));
  if (names.length === 1 && wrong === NONE) return parsed([]);
  if (wrong === NONE) return problem('"none" stands alone; remove it, or the names beside it');
  return wrong === undefined
    ? parsed(names)
    : problem(`${quoted(wrong)} is not a name of a sink (a-z, 0-9 and "-", at most 40 characters)`);
}

/** Whether a sink may have this name. */
export function isSinkName(name: string): boolean {
  return SINK_NAME.test(name) && name !== NONE;
}
