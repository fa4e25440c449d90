import { describe, expect, test } from 'vitest';
import type { ApiReply, RequestOptions } from '../support/api-client.ts';
import type { TestServer } from '../support/servers/server.ts';
import { configMap, MERGE, useRoom } from './room.ts';

const APPLY = 'application/apply-patch+yaml';

/**
 * The answer with its managedFields in the order of managers. The server's own order is by time
 * first, in whole seconds.
 */
function withManagers({ json, text, body }: ApiReply): unknown {
  const { managedFields } = body.metadata ?? {};
  if (managedFields === undefined) return json ?? text;
  const sorted = [...managedFields].sort((a, b) =>
    `${a.manager} ${a.operation}`.localeCompare(`${b.manager} ${b.operation}`),
  );
  return { ...body, metadata: { ...body.metadata, managedFields: sorted } };
}

export function applyContract(server: TestServer): void {
  describe('server-side apply and managedFields', () => {
    const { path, request } = useRoom(server, 'apply');
    const write = (method: string, target: string, options: RequestOptions) =>
      request(method, target, options, withManagers);
    const apply = (name: string, manager: string, fields: object, force = false) => {
      const query = `?fieldManager=${manager}${force ? '&force=true' : ''}`;
      return write('PATCH', `${path(name)}${query}`, { body: configMap(name, fields), contentType: APPLY });
    };

    test('apply creates, changes its fields, and removes those that it no longer names', async () => {
      await apply('applied', 'one', { data: { a: '1', b: '2' } });
      await apply('applied', 'one', { data: { a: '1', b: '2' } });
      await apply('applied', 'one', { data: { a: '9' } });
      await apply('applied', 'one', {});
    });

    test('two appliers share the fields with equal values, and conflict over the others', async () => {
      await apply('shared', 'one', { data: { a: '1' } });
      await apply('shared', 'two', { data: { a: '1', b: '2' } });
      await apply('shared', 'two', { data: { a: '9', b: '2' } });
      await apply('shared', 'two', { data: { a: '9', b: '2' } }, true);
      await apply('shared', 'one', {});
    });

    test('an applier conflicts with a client that updated', async () => {
      await write('POST', `${path()}?fieldManager=creator`, {
        body: configMap('mixed', { data: { a: '1' } }),
      });
      await apply('mixed', 'applier', { data: { a: '2' }, metadata: { labels: { l: 'v' } } });
      await apply('mixed', 'applier', { data: { a: '1' } });
    });

    test('kubectl takes over without a conflict what its own client-side apply has set', async () => {
      const record = (fields: object) =>
        JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, ...fields });
      const create = (name: string, lastApplied: string) =>
        write('POST', `${path()}?fieldManager=kubectl-client-side-apply`, {
          body: configMap(name, {
            data: { a: '1', b: '1' },
            metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': lastApplied } },
          }),
        });
      const both = { data: { a: '2', b: '2' } };
      await create('taken-over', record({ data: { a: '1', b: '1' } }));
      await apply('taken-over', 'other', both);
      await apply('taken-over', 'kubectl', both);
      // It did not set b, or not to what is there.
      await create('partly', record({ data: { a: '1' } }));
      await apply('partly', 'kubectl', both);
      await create('edited', record({ data: { a: '1', b: 'was' } }));
      await apply('edited', 'kubectl', both);
      for (const [name, text] of [
        ['no-json', '{'],
        ['no-object', '[]'],
        ['no-kind', '{"apiVersion":"v1","data":{"a":"1","b":"1"}}'],
        ['other-version', record({ apiVersion: 'v2', data: { a: '1', b: '1' } })],
      ] as const) {
        await create(name, text);
        await apply(name, 'kubectl', both);
      }
    });

    test('apply refuses invalid parameters and bodies', async () => {
      const options = { body: configMap('refused'), contentType: APPLY };
      await request('PATCH', path('refused'), options);
      await request('PATCH', `${path('refused')}?fieldManager=${'x'.repeat(129)}`, options);
      await request('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: '{' });
      await request('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: configMap('other') });
      await request('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: { metadata: {} } });
      const managed = configMap('refused', { metadata: { managedFields: [{ manager: 'me' }] } });
      await request('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: managed });
      const unknown = configMap('refused', { datas: { a: 'b' } });
      await request('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: unknown });
      const versioned = configMap('refused', { metadata: { resourceVersion: '1' } });
      await request('PATCH', `${path('refused')}?fieldManager=a`, { ...options, body: versioned });
      await request('PATCH', `${path('refused')}?force=true&fieldManager=a`, {
        body: [],
        contentType: 'application/json-patch+json',
      });
    });

    test('apply accepts YAML', async () => {
      const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata: {a: b}\n';
      await request('PATCH', `${path('yaml')}?fieldManager=a`, { body, contentType: APPLY });
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
        contentType: MERGE,
        userAgent: 'merger',
      });
      await write('PATCH', path('managed'), {
        body: [{ op: 'remove', path: '/data/c' }],
        contentType: 'application/json-patch+json',
        userAgent: 'remover/2',
      });
      await write('PATCH', path('managed'), {
        body: { data: { a: '2' } },
        contentType: MERGE,
        userAgent: 'nobody',
      });
    });

    test('emptied managedFields stay empty until a client applies', async () => {
      await write('POST', path(), { body: configMap('emptied', { data: { a: '1' } }) });
      await write('PATCH', path('emptied'), {
        body: { metadata: { managedFields: [{}] } },
        contentType: MERGE,
      });
      await write('PATCH', `${path('emptied')}?fieldManager=next`, {
        body: { data: { b: '1' } },
        contentType: MERGE,
      });
      await apply('emptied', 'applier', { data: { c: '1' } });
    });

    test('an empty list of managedFields empties them, an absent one keeps them', async () => {
      await write('POST', path(), {
        body: configMap('listed', { data: { a: '1' }, metadata: { managedFields: [] } }),
      });
      await write('POST', path(), {
        body: configMap('listed-blank', { data: { a: '1' }, metadata: { managedFields: [{}] } }),
      });
      await write('PUT', path('listed'), { body: configMap('listed', { data: { a: '2' } }) });
      await write('PATCH', path('listed'), {
        body: [{ op: 'remove', path: '/metadata/managedFields' }],
        contentType: 'application/json-patch+json',
      });
      await write('PATCH', path('listed'), {
        body: { metadata: { managedFields: null } },
        contentType: MERGE,
      });
      await write('PATCH', path('listed'), {
        body: { metadata: { managedFields: [] } },
        contentType: MERGE,
      });
      await write('PUT', path('listed'), { body: configMap('listed', { data: { a: '3' } }) });
      await apply('listed', 'applier', { data: { b: '1' } });
      await write('PUT', path('listed'), {
        body: configMap('listed', { data: { a: '4' }, metadata: { managedFields: [] } }),
      });
    });

    test('an entry of managedFields has the time of its write', async () => {
      const seconds = (time: number) => Math.floor(time / 1000);
      const begun = seconds(Date.now());
      const { body } = await request('POST', path(), { body: configMap('timed', { data: { a: '1' } }) });
      const written = seconds(Date.parse(body.metadata.managedFields?.[0]?.time ?? ''));
      // Not always the creationTimestamp: a second may end between the two.
      expect(written).toBeGreaterThanOrEqual(begun);
      expect(written).toBeLessThanOrEqual(seconds(Date.now()));
      expect(body.metadata.managedFields).toEqual([
        {
          manager: 'contract-test',
          operation: 'Update',
          apiVersion: 'v1',
          time: expect.stringMatching(/^[-0-9]{10}T[0-9:]{8}Z$/),
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
        },
      ]);
    });
  });
}
