import { beforeAll, describe, test } from 'vitest';
import { query, useRoom } from './room.ts';
import type { Server } from './server.ts';

const OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  none: {},
  dev: { env: 'dev', tier: 'web' },
  qa: { env: 'qa', tier: 'db' },
  empty: { env: '' },
  domain: { 'example.com/managed': 'true' },
};

export function selectorsContract(server: Server): void {
  describe('selectors', () => {
    const { check, create, path, request, same } = useRoom(server, 'selectors');
    beforeAll(async () => {
      for (const [name, labels] of Object.entries(OBJECTS)) await create(name, { metadata: { labels } });
    });
    const select = async (parameters: Readonly<Record<string, string>>) => {
      const { code, body } = await request('GET', `${path()}?${query(parameters)}`);
      same({ code, names: body.items.map(({ metadata }) => metadata.name) });
    };

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
    ])('labels: "%s" selects', async (labelSelector) => {
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
    ])('labels: "%s" is refused', async (labelSelector) => {
      await check('GET', `${path()}?${query({ labelSelector })}`);
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
    ])('fields: "%s" selects', async (fieldSelector) => {
      await select({ fieldSelector });
    });

    test.each([
      'data=x',
      'metadata.name',
      'metadata.name in (a)',
      'metadata.labels.env=dev',
      'metadata.name=a\\',
    ])('fields: "%s" is refused', async (fieldSelector) => {
      await check('GET', `${path()}?${query({ fieldSelector })}`);
    });

    test('both kinds at once', async () => {
      await select({ fieldSelector: 'metadata.name=dev', labelSelector: 'env=dev' });
      await select({ fieldSelector: 'metadata.name=dev', labelSelector: 'env=qa' });
    });
  });
}
