import { expect, test } from 'vitest';
import { isOlder } from '../../../src/kube/api/resource-version.ts';

test('resourceVersions are compared as numbers', () => {
  expect([isOlder('9', '10'), isOlder('10', '9'), isOlder('10', '10'), isOlder('123', '124')]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});
