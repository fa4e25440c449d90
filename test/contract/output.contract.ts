import { beforeAll, describe, expect, test } from 'vitest';
import { configMap, useRoom } from './room.ts';
import type { Server } from './server.ts';

/** What kubectl asks for. */
const TABLE =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** A table whose columns are told by name, type and priority: their descriptions are documentation. */
function withoutDescriptions(table: unknown): unknown {
  const { columnDefinitions, ...others } = table as { readonly columnDefinitions?: readonly Column[] };
  const columns = columnDefinitions?.map(({ description: _description, ...column }) => column);
  return { ...others, columnDefinitions: columns };
}

interface Column {
  readonly name: string;
  readonly description: string;
}

export function outputContract(server: Server): void {
  describe('forms of output', () => {
    const { check, create, namespace, path, request, same, watch } = useRoom(server, 'output');
    beforeAll(async () => {
      const metadata = { labels: { l: 'v' }, annotations: { a: 'b' } };
      await create('table-a', { data: { one: '1', two: '2' }, binaryData: { three: 'eA==' }, metadata });
      await create('table-b');
    });
    const table = async (target: string) => {
      const { code, json } = await request('GET', target, { accept: TABLE });
      same({ code, table: withoutDescriptions(json) });
    };

    test('a table of a list, of one object, of none', async () => {
      await table(path());
      await table(path('table-a'));
      await table(`${path()}?labelSelector=no%3Dsuch`);
      await table(`${path()}?limit=1`);
    });

    test('a table with whole objects, or with none', async () => {
      await table(`${path('table-a')}?includeObject=Object`);
      await table(`${path('table-a')}?includeObject=None`);
      await check('GET', `${path('table-a')}?includeObject=Nonsense`, { accept: TABLE });
    });

    test('a table of namespaces, of leases', async () => {
      await table(`/api/v1/namespaces?fieldSelector=metadata.name%3D${namespace}`);
      const body = { metadata: { name: 'table' }, spec: { holderIdentity: 'me' } };
      await request('POST', path('', 'leases'), { body });
      await table(path('table', 'leases'));
    });

    test('a Status is no table', async () => {
      await check('GET', path('absent'), { accept: TABLE });
    });

    test('a watch of tables tells the columns once', async () => {
      const open = await watch('fieldSelector=metadata.name%3Dtable-a&timeoutSeconds=30', { accept: TABLE });
      await open.first(1);
      const body = { data: { k: 'v' } };
      await request('PATCH', path('table-a'), { body, contentType: 'application/merge-patch+json' });

      const lines = await open.first(2);
      same(lines.map(({ type, object }) => ({ type, table: withoutDescriptions(object) })));
    });

    test('metadata only: of an object, of a list, of what is written', async () => {
      await check('GET', path('table-b'), { accept: METADATA });
      await check('GET', path(), { accept: METADATA_LIST });
      await check('POST', path(), { accept: METADATA, body: configMap('partial', { data: { k: 'v' } }) });
      await check('PATCH', path('partial'), {
        accept: METADATA,
        body: [{ op: 'add', path: '/data/l', value: 'w' }],
        contentType: 'application/json-patch+json',
      });
      await check('DELETE', path('partial'), { accept: METADATA });
    });

    test('metadata of a watch', async () => {
      const open = await watch('fieldSelector=metadata.name%3Dtable-b&timeoutSeconds=30', {
        accept: METADATA,
      });

      same(await open.first(1));
    });

    test('a form that does not fit', async () => {
      await check('GET', path(), { accept: 'application/json;as=Nonsense;v=v1;g=meta.k8s.io' });
      await check('GET', path(), { accept: 'application/json;as=Table;v=v9;g=meta.k8s.io' });
    });

    test('YAML', async () => {
      const { code, text, headers } = await request('GET', path('table-b'), { accept: 'application/yaml' });

      expect(headers['content-type']).toBe('application/yaml');
      same({
        code,
        text: text
          .replace(/(uid|resourceVersion|creationTimestamp): .*/g, '$1: <…>')
          .replace(/ {2}managedFields:\n( {2}- .*\n| {4}.*\n)*/, ''),
      });
    });
  });
}
