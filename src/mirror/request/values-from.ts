import { type Parsed, parsed, problem, quoted } from '../parsed.ts';
import { isObjectName } from './object-name.ts';
import { commaList } from './patterns.ts';

/** Most ConfigMaps with values for one source. Each is read when the source is rendered. */
const MOST_VALUES = 20;

/** Parses `defaults, options`: names of ConfigMaps beside the source, of which later ones win. */
export function parseValuesFrom(text: string): Parsed<readonly string[]> {
  const names = commaList(text);
  if (names.length === 0) {
    return problem('empty; name ConfigMaps beside the source, such as "defaults, options", or remove it');
  }
  const bad = names.find((name) => !isObjectName(name));
  if (bad !== undefined) return problem(`${quoted(bad)} is not the name of a ConfigMap`);
  return names.length > MOST_VALUES
    ? problem(`more than ${MOST_VALUES} ConfigMaps; merge some`)
    : parsed(names);
}
