import { type Parsed, parsed, problem, quoted } from '../parsed.ts';
import { commaList } from './patterns.ts';

/** New names of data keys, by their names in the source. */
export type Renames = ReadonlyMap<string, string>;

export const NO_RENAMES: Renames = new Map();

// As the API server has it: IsConfigMapKey in k8s.io/apimachinery/pkg/util/validation.
const DATA_KEY = /^(?!\.\.)(?!\.$)[-._a-zA-Z0-9]{1,253}$/;

/** Parses `ca.crt=ca-bundle.crt, a=b`. Whether the keys exist, only the source's data can say. */
export function parseRenameKeys(text: string): Parsed<Renames> {
  const renames = new Map<string, string>();
  const targets = new Set<string>();
  for (const item of commaList(text)) {
    const [from = '', to = '', ...more] = item.split('=').map((key) => key.trim());
    if (more.length > 0 || from === '' || to === '') {
      return problem(`${quoted(item)}: write "key=new-key", such as "ca.crt=ca-bundle.crt"`);
    }
    const bad = [from, to].find((key) => !DATA_KEY.test(key));
    if (bad !== undefined) {
      return problem(`${quoted(bad)} is not a possible key (letters, digits, "-", "_" and ".", at most 253)`);
    }
    if (renames.has(from)) return problem(`${quoted(from)} is renamed twice`);
    if (targets.has(to)) return problem(`two keys would be named ${quoted(to)}`);
    renames.set(from, to);
    targets.add(to);
  }
  return renames.size === 0
    ? problem('empty; write "key=new-key", such as "ca.crt=ca-bundle.crt", or remove the annotation')
    : parsed(renames);
}
