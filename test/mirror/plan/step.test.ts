import { describe, expect, test } from 'vitest';
import type { Step } from '../../../src/mirror/plan/step.ts';
import type { StringMap } from '../../../src/mirror/vocabulary.ts';
import { companion, namespace, source, stripped } from '../wire.ts';
import { boundsOf, planFor, world } from '../world.ts';

const key = 'team-a/colors';
const namespaces = [
  namespace('team-a'),
  namespace('silent'),
  namespace('mute', { labels: { env: 'dev' } }),
  namespace('other', { accepts: 'x' }),
  namespace('malformed', { accepts: '.*' }),
  namespace('open', { accepts: '*' }),
  namespace('kube-system'),
];
const required = boundsOf({ requireConsent: true });

function stepsOf(asks: StringMap, ...objects: Parameters<typeof world>[0]): readonly Step[] {
  return planFor(key, world([source(key, asks), ...objects], namespaces, required));
}

describe('[P3] a refusal says whether the source names the namespace', () => {
  const named = (steps: readonly Step[]) =>
    Object.fromEntries(
      steps.flatMap((step) => (step.state === 'refused' ? [[step.companion.split('/')[0], step.named]] : [])),
    );

  test('and whether only a pattern or selector matches it', () => {
    expect(named(stepsOf({ 'target-namespaces': 'silent, malformed, kube-*, *' }))).toEqual({
      silent: true,
      malformed: true,
      mute: false,
      other: false,
      'kube-system': false,
    });
  });

  test('[R13] also when the namespace does not exist and the bounds exclude it', () => {
    const steps = stepsOf({ 'target-namespaces': 'kube-nowhere, nowhere' });
    expect(named(steps)).toEqual({ 'kube-nowhere': true });
    expect(steps).toContainEqual(
      expect.objectContaining({ companion: 'nowhere/colors-synced', state: 'no namespace' }),
    );
  });

  test('and one that leaves a companion there counts as named', () => {
    const left = companion(source(key), 'malformed/colors-synced');
    expect(named(stepsOf({ 'target-namespaces': 'open' }, left))).toEqual({ malformed: true });
    expect(named(stepsOf({}, left))).toEqual({ malformed: true });
    const unlabelled = stripped(source(key), 'workshop.io/managed');
    expect(named(planFor(key, world([unlabelled, left], namespaces)))).toEqual({ malformed: true });
  });
});
