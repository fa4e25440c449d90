import { expect, test } from 'vitest';
import { sentence } from '../../src/telemetry/sentence.ts';

test.for([
  [{ msg: 'stopped' }, 'stopped'],
  [
    { msg: 'companion created', source: 'shop/colors', companion: 'team-a/colors-synced', durationMs: 3 },
    'shop/colors: companion team-a/colors-synced created, 3 ms',
  ],
  [
    { msg: 'companion in conflict', source: 'a/b', companion: 'c/d', reason: 'a source has this name' },
    'a/b: companion c/d in conflict: a source has this name',
  ],
  [
    { msg: 'resolved', source: 'a/b', companion: 'c/d', was: 'companion in conflict' },
    'a/b: resolved: companion c/d in conflict',
  ],
  [
    { msg: 'the API server is not ready; retrying', error: 'answered 503', retryInMs: 1234 },
    'the API server is not ready; retrying: answered 503; next attempt in 1.2 s',
  ],
  [
    { msg: 'listed', informer: 'configmaps', objects: 3, created: undefined },
    'configmaps: listed (objects 3)',
  ],
  [
    { msg: 'companion fought over', companion: 'c/d', fieldManager: 'helm', durationMs: 150_000 },
    'companion c/d fought over, 3 min (field manager helm)',
  ],
  [
    { msg: 'stopped', companion: 'c/d', error: 'it says:\n\u001b[31mno', items: ['a'], retryInMs: 45.4 },
    'stopped (companion c/d): it says: [31mno; next attempt in 45 ms (items ["a"])',
  ],
] as const)('[O4] %j reads: %s', ([record, text]) => {
  expect(sentence({ level: 'info', time: 'now', ...record })).toBe(text);
});
