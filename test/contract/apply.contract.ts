import { describe, expect, test } from 'vitest';
import type { ApiBody } from '../support/api-client.ts';
import { configMap, useRoom } from './room.ts';
import type { Server } from './server.ts';

const APPLY = 'application/apply-patch+yaml';

/**
 * What managedFields tell, without times: who holds what, and how it came to. In the order of managers, since the
 * server's own is by time first, in whole seconds.
 */
function holdings(body: ApiBody): unknown {
  return (body.metadata.managedFields ?? [])
    .map(({ time: _time, ...entry }) => entry)
    .sort((a, b) => `${a.manager} ${a.operation}`.localeCompare(`${b.manager} ${b.operation}`));
}

export function applyContract(server: Server): void {
  describe('server-side apply and managedFields', () => {
    const { check, path, request, same } = useRoom(server, 'apply');
    /** Applies, and compares who holds what as well. */
    const apply = async (name: string, manager: string, fields: object, force = false) => {
      const query = `?fieldManager=${manager}${force ? '&force=true' : ''}`;
      const reply = await check('PATCH', `${path(name)}${query}`, {
        body: configMap(name, fields),
        contentType: APPLY,
      });
      same(holdings(reply.body));
      return reply;
    };
    /** Writes with another verb, and compares who holds what. */
    const write = async (method: string, target: string, options: Parameters<typeof request>[2]) => {
      const { code, body } = await request(method, target, options);
      same({ code, holdings: holdings(body) });
    };

    test('apply creates, changes what it holds, and removes what it no longer names', async () => {
      await apply('applied', 'one', { data: { a: '1', b: '2' } });
      await apply('applied', 'one', { data: { a: '1', b: '2' } });
      await apply('applied', 'one', { data: { a: '9' } });
      await apply('applied', 'one', {});
    });

    test('two appliers share what they agree on, and conflict where they do not', async () => {
      await apply('shared', 'one', { data: { a: '1' } });
      await apply('shared', 'two', { data: { a: '1', b: '2' } });
      await apply('shared', 'two', { data: { a: '9', b: '2' } });
      await apply('shared', 'two', { data: { a: '9', b: '2' } }, true);
      await apply('shared', 'one', {});
    });

    test('an applier conflicts with one who updated', async () => {
      await write('POST', `${path()}?fieldManager=creator`, {
        body: configMap('mixed', { data: { a: '1' } }),
      });
      await apply('mixed', 'applier', { data: { a: '2' }, metadata: { labels: { l: 'v' } } });
      await apply('mixed', 'applier', { data: { a: '1' } });
    });

    test('what apply refuses', async () => {
      const options = { body: configMap('refused'), contentType: APPLY };
      await check('PATCH', path('refused'), options);
      await check('PATCH', `${path('refused')}?fieldManager=${'x'.repeat(129)}`, options);
      await check('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: '{' });
      await check('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: configMap('other') });
      await check('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: { metadata: {} } });
      const managed = configMap('refused', { metadata: { managedFields: [{ manager: 'me' }] } });
      await check('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: managed });
      const unknown = configMap('refused', { datas: { a: 'b' } });
      await check('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: unknown });
      const versioned = configMap('refused', { metadata: { resourceVersion: '1' } });
      await check('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: versioned });
      await check('PATCH', `${path('refused')}?force=true&fieldManager=a`, {
        body: [],
        contentType: 'application/json-patch+json',
      });
    });

    test('the body may be YAML', async () => {
      const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {a: b}\n';
      await check('PATCH', `${path('yaml')}?fieldManager=a`, { body, contentType: APPLY });
    });

    test('every write names its manager, by parameter or by User-Agent', async () => {
      await write('POST', path(), {
        body: configMap('managed', { data: { a: '1' } }),
        userAgent: 'maker/1.0 (x)',
      });
      await write('PUT', `${path('managed')}?fieldManager=replacer`, {
        body: configMap('managed', { data: { a: '2', b: '1' } }),
      });
      await write('PATCH', path('managed'), {
        body: { data: { c: '1' }, binaryData: { d: 'eA==' }, metadata: { labels: { l: 'v' } } },
        contentType: 'application/merge-patch+json',
        userAgent: 'merger',
      });
      await write('PATCH', path('managed'), {
        body: [{ op: 'remove', path: '/data/c' }],
        contentType: 'application/json-patch+json',
        userAgent: 'remover/2',
      });
      await write('PATCH', path('managed'), {
        body: { data: { a: '2' } },
        contentType: 'application/merge-patch+json',
        userAgent: 'nobody',
      });
    });

    test('managedFields that were emptied stay so until somebody applies', async () => {
      await write('POST', path(), { body: configMap('emptied', { data: { a: '1' } }) });
      await write('PATCH', path('emptied'), {
        body: { metadata: { managedFields: [{}] } },
        contentType: 'application/merge-patch+json',
      });
      await write('PATCH', `${path('emptied')}?fieldManager=next`, {
        body: { data: { b: '1' } },
        contentType: 'application/merge-patch+json',
      });
      await apply('emptied', 'applier', { data: { c: '1' } });
    });

    test('an entry tells when it was made', async () => {
      const { body } = await request('POST', path(), { body: configMap('timed', { data: { a: '1' } }) });

      expect(body.metadata.managedFields).toEqual([
        {
          manager: 'contract-test',
          operation: 'Update',
          apiVersion: 'v1',
          time: body.metadata.creationTimestamp,
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
        },
      ]);
    });
  });
}
