import { beforeAll, describe, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { query, useRoom } from './room.ts';

const OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  none: {},
  dev: { env: 'dev', tier: 'web' },
  qa: { env: 'qa', tier: 'db' },
  empty: { env: '' },
  domain: { 'example.com/managed': 'true' },
};

export function selectorsContract(server: TestServer): void {
  describe('selectors', () => {
    const { create, path, request } = useRoom(server, 'selectors');
    beforeAll(async () => {
      for (const [name, labels] of Object.entries(OBJECTS)) await create(name, { metadata: { labels } });
    });
    const select = (parameters: Readonly<Record<string, string>>) =>
      request('GET', `${path()}?${query(parameters)}`);

    test.each([
      'env=dev',
      'env==dev',
      'env!=dev',
      'env in (dev,qa)',
      'env in ( dev , qa ) , tier notin (db)',
      'env notin (dev,qa)',
      'env',
      '!env',
      '! env',
      'env,tier',
      'env=',
      'env in (,dev)',
      'env in ()',
      'example.com/managed in (true,companion)',
      'env=dev,env=qa',
      '',
      ' ',
      'none=such',
    ])('the label selector "%s" chooses', async (labelSelector) => {
      await select({ labelSelector });
    });

    test.each([
      'env in',
      'env in (dev',
      'env in dev',
      'env=dev,',
      ',env',
      '=dev',
      'env=a b',
      'env=dev=qa',
      'A/b=c',
      'a/b/c',
      `env=${'x'.repeat(64)}`,
      '!',
      'env>x',
      '!env=dev',
    ])('the label selector "%s" is refused', async (labelSelector) => {
      await request('GET', `${path()}?${query({ labelSelector })}`);
    });

    test.each([
      'metadata.name=dev',
      'metadata.name==dev',
      'metadata.name!=dev',
      'metadata.name=dev,metadata.name=qa',
      'metadata.namespace=other',
      'metadata.namespace!=other',
      '',
      'metadata.name=',
    ])('the field selector "%s" chooses', async (fieldSelector) => {
      await select({ fieldSelector });
    });

    test.each([
      'data=x',
      'metadata.name',
      'metadata.name in (a)',
      'metadata.labels.env=dev',
      'metadata.name=a\\',
    ])('the field selector "%s" is refused', async (fieldSelector) => {
      await request('GET', `${path()}?${query({ fieldSelector })}`);
    });

    test('a label and a field selector can be combined', async () => {
      await select({ fieldSelector: 'metadata.name=dev', labelSelector: 'env=dev' });
      await select({ fieldSelector: 'metadata.name=dev', labelSelector: 'env=qa' });
    });
  });
}
