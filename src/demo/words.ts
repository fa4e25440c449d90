import type { Cluster } from '../kube/config/cluster.ts';
import { DEFAULT_DOMAIN } from '../mirror/vocabulary.ts';
import { GUEST, type Setting, TEAMS } from './cast.ts';
import type { Tally } from './player.ts';

/** What the demo says before and after its steps: paragraphs. */

const STEPS =
  'Each step shows what you would type, and is checked. Its time runs from sending the last command to seeing the ' +
  "effect, on a watch of the demo's own.";

function promise({ domain }: Setting): string {
  return (
    `The controller keeps one promise: a ConfigMap labelled ${domain}/managed=true, a source, has a companion, ` +
    'a copy that stays as it should be whatever happens to either.'
  );
}

export function sandboxIntroduction(setting: Setting): readonly string[] {
  return [
    'The mirror-controller workshop, on its sandbox: a Kubernetes API server in memory, inside this process and ' +
      'gone with it. The controller runs beside it.',
    promise(setting),
    STEPS,
  ];
}

export function clusterIntroduction(setting: Setting, { context, server }: Cluster): readonly string[] {
  const where = context === undefined ? server : `the cluster of context "${context}"`;
  return [
    `The mirror-controller workshop, on ${where}. It works in namespaces that it creates now and removes at the ` +
      `end: ${[setting.home, ...TEAMS, GUEST].join(', ')}.`,
    promise(setting),
    `The controller runs in this process. Its labels are its own, ${setting.domain}/ instead of ${DEFAULT_DOMAIN}/: so it ` +
      'sees nothing that is mirrored here already, and a controller that runs here sees nothing of the demo.',
    STEPS,
  ];
}

export function farewell({ domain }: Setting, { held, skipped, durationMs }: Tally): readonly string[] {
  const missed = skipped === 0 ? '' : `, ${skipped} SKIPPED as said above`;
  const asTheyAre = domain === DEFAULT_DOMAIN ? 'The lines above work there as they are; the' : 'The';
  return [
    `${held} steps, all as expected${missed}, in ${(durationMs / 1000).toFixed(1)} s.`,
    'Now you: "mirror-controller sandbox" gives the same API server and controller to your kubectl, until Ctrl-C. ' +
      `${asTheyAre} README says what else a source can ask for.`,
  ];
}

export const REMOVING = 'Now the namespaces of the demo are removed, which takes a cluster some seconds.';

/** Nothing when all is gone. */
export function leftBehind({
  going,
  staying,
}: {
  readonly going: readonly string[];
  readonly staying: readonly string[];
}): readonly string[] {
  const notAwaited = `Still being deleted, and not waited for any longer: ${going.join(', ')}.`;
  const notRemoved = `NOT REMOVED, please do it by hand: kubectl delete namespace ${staying.join(' ')}`;
  return [...(going.length > 0 ? [notAwaited] : []), ...(staying.length > 0 ? [notRemoved] : [])];
}
