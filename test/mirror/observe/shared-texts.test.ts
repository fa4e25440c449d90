import { expect, test } from 'vitest';
import { observe } from '../../../src/mirror/observe/observed-config-map.ts';
import { SharedTexts } from '../../../src/mirror/observe/shared-texts.ts';
import { companion, source, vocabulary } from '../wire.ts';

test('what is remembered of a ConfigMap is the same, however many were seen before [W4]', () => {
  const texts = new SharedTexts();
  for (let index = 0; index < 10_000; index++) {
    const colors = source(`team-${index}/colors`, { 'copy-labels': 'tier' });
    for (const object of [colors, companion(colors, `team-${index}/colors-synced`)]) {
      const shared = texts.shareIn(observe(structuredClone(object), vocabulary));
      expect(shared).toEqual(observe(object, vocabulary));
    }
  }
});
