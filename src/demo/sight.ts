import type { ObjectKey } from '../kube/api/object-key.ts';
import type { SeenConfigMap } from './config-maps-seen.ts';
import type { Scene } from './step.ts';

/** How the steps put into words what they see. */

/** `sky=blue, sun=yellow` */
export function describeData({ data }: SeenConfigMap): string {
  const entries = Object.entries(data).map(([key, value]) => `${key}=${value}`);
  return entries.length === 0 ? 'no data' : entries.join(', ');
}

/** Whether all of these are there and hold exactly this. */
export function allHold(
  keys: readonly ObjectKey[],
  data: Readonly<Record<string, string>>,
  scene: Scene,
): boolean {
  return keys.every((key) => isEqual(scene.now(key)?.data, data));
}

/** Whether all of these are there and hold what the source holds. */
export function allFollow(keys: readonly ObjectKey[], source: ObjectKey, scene: Scene): boolean {
  const data = scene.now(source)?.data;
  return data !== undefined && allHold(keys, data, scene);
}

export function isAnyThere(keys: readonly ObjectKey[], scene: Scene): boolean {
  return keys.some((key) => scene.now(key) !== undefined);
}

/** Whether nobody has written to it, or replaced it, since the step began. */
export function isUntouched(key: ObjectKey, scene: Scene): boolean {
  const [before, now] = [scene.before(key), scene.now(key)];
  return before !== undefined && before.uid === now?.uid && before.resourceVersion === now.resourceVersion;
}

function isEqual(
  data: Readonly<Record<string, string>> | undefined,
  expected: Readonly<Record<string, string>>,
): boolean {
  if (data === undefined || Object.keys(data).length !== Object.keys(expected).length) return false;
  return Object.entries(expected).every(([key, value]) => data[key] === value);
}
