import { type ObjectKey, objectKey } from '../../../src/kube/api/object-key.ts';
import { explainCompanion } from '../../../src/mirror/explain/explain.ts';
import type { Finding } from '../../../src/mirror/explain/finding.ts';
import { originsIn } from '../../../src/mirror/explain/question.ts';
import { commandInWords, proposedNames, type Remedy } from '../../../src/mirror/explain/remedies.ts';
import { observe } from '../../../src/mirror/observe/observed-config-map.ts';
import { inventoryOf } from '../inventory-of.ts';
import { renderingOf } from '../rendering-of.ts';
import { vocabulary } from '../wire.ts';
import { objectAt, viewOf, type World } from '../world.ts';

/**
 * Why the companion of a source is as it is in a namespace.
 * @param named the companion's name, if it was asked about by name
 */
export function explain(key: string, target: string, of: World, named?: string): readonly Finding[] {
  const live = objectAt(of, key);
  const observed = live && observe(live, vocabulary);
  const name = named ?? (observed?.request?.ok ? observed.request.value.companionName : undefined);
  const at = name === undefined ? undefined : objectAt(of, objectKey(target, name));
  const proposals = observed ? proposedNames(observed, vocabulary) : [];
  const taken = proposals.map(([, each]) => each).filter((each) => objectAt(of, objectKey(target, each)));
  const question = {
    source: key as ObjectKey,
    live: observed,
    namespace: target,
    ...(named !== undefined && { name: named }),
    actual: at && observe(at, vocabulary),
    taken: new Set(taken),
    exists: of.namespaces.some(({ metadata }) => metadata.name === target),
    origins: originsIn(target, inventoryOf(of), viewOf(of)),
    rendering: observed && renderingOf(observed, of.configMaps, viewOf(of)),
  };
  return explainCompanion(question, viewOf(of));
}

/** `check: evidence`, then what would change the last. */
export function inWords(findings: readonly Finding[]): readonly string[] {
  const fails = findings.at(-1)?.fails;
  const remedy = fails === undefined ? [] : [remedyInWords(fails)];
  return [...findings.map(({ check, evidence }) => `${check}: ${evidence}`), ...remedy];
}

function remedyInWords(remedy: Remedy): string {
  if ('words' in remedy) return remedy.words;
  return 'command' in remedy ? commandInWords(remedy.command) : `by the ${remedy.by}`;
}
