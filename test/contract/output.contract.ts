import { beforeAll, describe, expect, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { withoutManagedFields } from './normalised.ts';
import { configMap, MERGE, useRoom } from './room.ts';

/** What kubectl asks for. */
const TABLE =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/**
 * A table whose columns are told by name, type and priority: their descriptions are documentation.
 */
function withoutDescriptions(table: unknown): unknown {
  const { columnDefinitions, ...others } = table as { readonly columnDefinitions?: readonly Column[] };
  const columns = columnDefinitions?.map(({ description: _description, ...column }) => column);
  return withoutManagedFields({ ...others, columnDefinitions: columns });
}

interface Column {
  readonly name: string;
  readonly description: string;
}

export function outputContract(server: TestServer): void {
  describe('forms of output', () => {
    const { create, namespace, path, request, watch } = useRoom(server, 'output');
    beforeAll(async () => {
      const metadata = { labels: { l: 'v' }, annotations: { a: 'b' } };
      await create('table-a', { data: { one: '1', two: '2' }, binaryData: { three: 'eA==' }, metadata });
      await create('table-b');
    });
    const table = (target: string) =>
      request('GET', target, { accept: TABLE }, ({ json }) => withoutDescriptions(json));

    test('a table can show a list, one object or none', async () => {
      await table(path());
      await table(path('table-a'));
      await table(`${path()}?labelSelector=no%3Dsuch`);
      await table(`${path()}?limit=1`);
    });

    test('a table can include whole objects, or none', async () => {
      await table(`${path('table-a')}?includeObject=Object`);
      await table(`${path('table-a')}?includeObject=None`);
      await request('GET', `${path('table-a')}?includeObject=Nonsense`, { accept: TABLE });
    });

    test('people with curl or a browser get indented JSON, and who asks for it', async () => {
      const indented = (target: string, userAgent: string) =>
        request('GET', target, { userAgent }, ({ text, json }) => ({
          isIndented: text === JSON.stringify(json, undefined, 2),
          isOneLine: text === `${JSON.stringify(json)}\n`,
        }));
      for (const userAgent of ['curl/8.5.0', 'Wget/1.21', 'Mozilla/5.0 (X11)', 'Mozilla/4.0', 'my-curl'])
        await indented(path('table-a'), userAgent);
      for (const pretty of ['', '1', '0', 't', 'true', 'TRUE', 'false', 'yes', 'tRuE'])
        await indented(`${path('table-a')}?pretty=${pretty}`, 'none');
      await indented(`${path()}?pretty=false`, 'curl/8.5.0');
      await indented(`${path()}?limit=1`, 'curl/8.5.0');
      await indented(path('absent'), 'curl/8.5.0');
      await indented('/apis', 'curl/8.5.0');
    });

    test('a table can show namespaces and leases', async () => {
      await table(`/api/v1/namespaces?fieldSelector=metadata.name%3D${namespace}`);
      const body = { metadata: { name: 'table' }, spec: { holderIdentity: 'me' } };
      await request('POST', path('', 'leases'), { body });
      await table(path('table', 'leases'));
    });

    test('a Status is not a table', async () => {
      await request('GET', path('absent'), { accept: TABLE });
    });

    test('a watch of tables shows the columns once', async () => {
      const open = await watch(
        `${path()}?watch=true&fieldSelector=metadata.name%3Dtable-a&timeoutSeconds=30`,
        {
          accept: TABLE,
        },
        ({ type, object }) => ({ type, table: withoutDescriptions(object) }),
      );
      await open.first(1);
      const body = { data: { k: 'v' } };
      await request('PATCH', path('table-a'), { body, contentType: MERGE });

      await open.first(2);
    });

    test('an answer can be metadata only: of an object, a list and a write', async () => {
      await request('GET', path('table-b'), { accept: METADATA });
      await request('GET', path(), { accept: METADATA_LIST });
      await request('POST', path(), { accept: METADATA, body: configMap('partial', { data: { k: 'v' } }) });
      await request('PATCH', path('partial'), {
        accept: METADATA,
        body: [{ op: 'add', path: '/data/l', value: 'w' }],
        contentType: 'application/json-patch+json',
      });
      await request('DELETE', path('partial'), { accept: METADATA });
    });

    test('a watch can be metadata only', async () => {
      const open = await watch(
        `${path()}?watch=true&fieldSelector=metadata.name%3Dtable-b&timeoutSeconds=30`,
        {
          accept: METADATA,
        },
      );

      await open.first(1);
    });

    test('unknown forms of output are refused', async () => {
      await request('GET', path(), { accept: 'application/json;as=Nonsense;v=v1;g=meta.k8s.io' });
      await request('GET', path(), { accept: 'application/json;as=Table;v=v9;g=meta.k8s.io' });
    });

    test('an answer can be YAML', async () => {
      const { headers } = await request('GET', path('table-b'), { accept: 'application/yaml' }, ({ text }) =>
        text
          .replace(/(uid|resourceVersion|creationTimestamp): .*/g, '$1: <…>')
          .replace(/ {2}managedFields:\n( {2}- .*\n| {4}.*\n)*/, ''),
      );

      expect(headers['content-type']).toBe('application/yaml');
    });
  });
}
