import { parseRequest } from '../../../src/mirror/request/request.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { vocabulary } from '../wire.ts';

/** What a source `team-a/colors` asks for with these annotations (without their domain). */
export function ask(asks: StringMap, name = 'colors') {
  const annotations = Object.fromEntries(
    Object.entries(asks).map(([key, value]) => [`workshop.io/${key}`, value]),
  );
  return parseRequest({ namespace: 'team-a', name, annotations }, vocabulary);
}
