import { describe, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { configMap, MERGE, useRoom } from './room.ts';

export function refusalsContract(server: TestServer): void {
  describe('refusals', () => {
    const { create, namespace, path, request } = useRoom(server, 'refusals');
    const merge = { body: {}, contentType: MERGE };

    test('unknown paths are refused', async () => {
      await request('GET', '/api/v1/nosuch');
      await request('GET', path('', 'nosuch'));
      await request('GET', '/apis/nosuch.example.com/v1/things');
      await request('GET', path('a/nosuch'));
    });

    test('methods that a path does not have are refused', async () => {
      await create('object');
      await request('POST', path('object'), { body: configMap('object') });
      await request('PUT', path(), { body: configMap('object') });
      await request('PATCH', path(), merge);
      await request('POST', '/api/v1/configmaps', { body: configMap('object') });
    });

    test('HEAD of a resource is refused', async () => {
      await create('headless');
      await request('HEAD', path('headless'));
      await request('HEAD', path());
      await request('HEAD', path('absent'));
    });

    test('nothing can be created in an absent namespace, and its lists are empty', async () => {
      await request('POST', '/api/v1/namespaces/nosuch/configmaps', { body: configMap('a') });
      await request('GET', '/api/v1/namespaces/nosuch/configmaps');
    });

    test('a namespace other than that of the path is refused', async () => {
      await request('POST', path(), { body: configMap('a', { metadata: { namespace: 'other' } }) });
    });

    test.each([
      ['of invalid JSON', '{'],
      ['of no length', ''],
      ['that is a list', '[]'],
      ['that is null', 'null'],
      ['with a number in place of text', JSON.stringify(configMap('a', { data: { k: 1 } }))],
      ['with a list in place of a map', JSON.stringify(configMap('a', { data: [] }))],
      ['with text in place of a boolean', JSON.stringify(configMap('a', { immutable: 'yes' }))],
      ['with a number as a label', JSON.stringify(configMap('a', { metadata: { labels: { a: 1 } } }))],
      ['with binaryData that is not base64', JSON.stringify(configMap('a', { binaryData: { a: '!' } }))],
      ['of another kind', JSON.stringify({ ...configMap('a'), kind: 'Secret' })],
      ['of another version', JSON.stringify({ ...configMap('a'), apiVersion: 'v2' })],
    ])('a body %s is refused', async (_what, body) => {
      await request('POST', path(), { body });
    });

    test('unknown media types are refused', async () => {
      await request('POST', path(), { body: 'x', contentType: 'text/plain' });
      await request('GET', path(), { accept: 'text/plain' });
      await create('patched');
      await request('PATCH', path('patched'), { body: {} });
    });

    test('unknown fields are dropped, or refused if the client asks for that', async () => {
      const body = configMap('unknown', { datas: { k: 'v' } });
      await request('POST', `${path()}?fieldValidation=Strict`, { body });
      await request('POST', `${path()}?fieldValidation=Nonsense`, { body });
      await request('POST', `${path()}?fieldValidation=Ignore`, { body });
    });

    test('a body of more than 3 MiB is refused', async () => {
      await request('POST', path(), {
        body: configMap('huge', { data: { a: 'x'.repeat(3 * 1024 * 1024) } }),
      });
    });

    test('invalid query parameters are refused', async () => {
      await request('GET', `${path()}?limit=many`);
      await request('GET', `${path()}?limit=-1&labelSelector=no%3Dsuch`);
      await request('GET', `${path()}?timeoutSeconds=soon`);
      await request('GET', `${path()}?continue=nonsense`);
      await request('GET', `${path()}?labelSelector=a%20in`);
      await request('GET', `${path()}?fieldSelector=data%3Dx`);
      await request('GET', `${path()}?sendInitialEvents=true`);
      await request('GET', `/api/v1/namespaces/${namespace}?labelSelector=a%20in`);
    });
  });
}
