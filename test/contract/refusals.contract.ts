import { describe, test } from 'vitest';
import { configMap, useRoom } from './room.ts';
import type { Server } from './server.ts';

export function refusalsContract(server: Server): void {
  describe('requests that are no good', () => {
    const { check, create, path, namespace } = useRoom(server, 'refusals');
    const merge = { body: {}, contentType: 'application/merge-patch+json' };

    test('paths that lead nowhere', async () => {
      await check('GET', '/api/v1/nosuch');
      await check('GET', path('', 'nosuch'));
      await check('GET', '/apis/nosuch.example.com/v1/things');
      await check('GET', path('a/nosuch'));
    });

    test('methods that do not belong to the path', async () => {
      await create('object');
      await check('POST', path('object'), { body: configMap('object') });
      await check('PUT', path(), { body: configMap('object') });
      await check('PATCH', path(), merge);
      await check('POST', '/api/v1/configmaps', { body: configMap('object') });
    });

    test('a namespace that is not there', async () => {
      await check('POST', '/api/v1/namespaces/nosuch/configmaps', { body: configMap('a') });
      await check('GET', '/api/v1/namespaces/nosuch/configmaps');
    });

    test('a namespace that is not the one in the path', async () => {
      await check('POST', path(), { body: configMap('a', { metadata: { namespace: 'other' } }) });
    });

    test.each([
      ['no JSON', '{'],
      ['nothing', ''],
      ['a list', '[]'],
      ['a null', 'null'],
      ['a number where text belongs', JSON.stringify(configMap('a', { data: { k: 1 } }))],
      ['a list where a map belongs', JSON.stringify(configMap('a', { data: [] }))],
      ['text where a truth value belongs', JSON.stringify(configMap('a', { immutable: 'yes' }))],
      ['a number for a label', JSON.stringify(configMap('a', { metadata: { labels: { a: 1 } } }))],
      ['binaryData that is no base64', JSON.stringify(configMap('a', { binaryData: { a: '!' } }))],
      ['another kind', JSON.stringify({ ...configMap('a'), kind: 'Secret' })],
      ['another version', JSON.stringify({ ...configMap('a'), apiVersion: 'v2' })],
    ])('a body that is %s', async (_what, body) => {
      await check('POST', path(), { body });
    });

    test('media types that the server does not speak', async () => {
      await check('POST', path(), { body: 'x', contentType: 'text/plain' });
      await check('GET', path(), { accept: 'text/plain' });
      await create('patched');
      await check('PATCH', path('patched'), { body: {} });
    });

    test('unknown fields are dropped, or refused by those who ask for it', async () => {
      const body = configMap('unknown', { datas: { k: 'v' } });
      await check('POST', `${path()}?fieldValidation=Strict`, { body });
      await check('POST', `${path()}?fieldValidation=Nonsense`, { body });
      await check('POST', `${path()}?fieldValidation=Ignore`, { body });
    });

    test('a body beyond the limit of 3 MiB', async () => {
      await check('POST', path(), { body: configMap('huge', { data: { a: 'x'.repeat(3 * 1024 * 1024) } }) });
    });

    test('bad values of query parameters', async () => {
      await check('GET', `${path()}?limit=many`);
      await check('GET', `${path()}?limit=-1&labelSelector=no%3Dsuch`);
      await check('GET', `${path()}?timeoutSeconds=soon`);
      await check('GET', `${path()}?continue=nonsense`);
      await check('GET', `${path()}?labelSelector=a%20in`);
      await check('GET', `${path()}?fieldSelector=data%3Dx`);
      await check('GET', `${path()}?sendInitialEvents=true`);
      await check('GET', `/api/v1/namespaces/${namespace}?labelSelector=a%20in`);
    });
  });
}
