import { describe, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { configMap, MERGE, useRoom } from './room.ts';

const KIBIBYTE = 1024;
const long = (length: number) => 'x'.repeat(length);
const named = (name: string) => configMap(name);
const withData = (...keys: readonly string[]) =>
  configMap('v', { data: Object.fromEntries(keys.map((key) => [key, 'x'])) });
const withLabels = (labels: object) => configMap('v', { metadata: { labels } });
const withAnnotations = (annotations: object) => configMap('v', { metadata: { annotations } });
const owner = (fields: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', ...fields });
const withOwners = (...owners: readonly object[]) =>
  configMap('v', { metadata: { ownerReferences: owners.map(owner) } });

const INVALID: Readonly<Record<string, object>> = {
  'no name': configMap('', {}),
  'an upper-case name': named('Upper'),
  'a name with an underscore': named('a_b'),
  'a name with two dots': named('a..b'),
  'a name that begins with a dash': named('-a'),
  'a name of 254 characters': named(long(254)),
  'a name with a slash': named('a/b'),
  'a key with a blank': withData('a b'),
  'the key .': withData('.'),
  'the key ..': withData('..'),
  'a key that begins with two dots': withData('..a'),
  'a key of 254 characters': withData(long(254)),
  'an empty key': withData(''),
  'a key in data and binaryData': configMap('v', { data: { a: 'x' }, binaryData: { a: 'eA==' } }),
  'more than 1 MiB of data': configMap('v', { data: { a: long(KIBIBYTE * KIBIBYTE + 1) } }),
  'more than 1 MiB in data and binaryData together': configMap('v', {
    data: { a: long(KIBIBYTE * KIBIBYTE) },
    binaryData: { b: 'eA==' },
  }),
  'a label key with a blank': withLabels({ 'a b': 'x' }),
  'a label key with two slashes': withLabels({ 'a/b/c': 'x' }),
  'a label key with an upper-case prefix': withLabels({ 'A/b': 'x' }),
  'an empty label key': withLabels({ '': 'x' }),
  'a label key with an empty prefix': withLabels({ '/a': 'x' }),
  'a label key of 64 characters': withLabels({ [long(64)]: 'x' }),
  'a label value with a blank': withLabels({ a: 'x y' }),
  'a label value of 64 characters': withLabels({ a: long(64) }),
  'an annotation key with a blank': withAnnotations({ 'a b': 'x' }),
  'more than 256 KiB of annotations': withAnnotations({ a: long(256 * KIBIBYTE + 1) }),
  'an owner without kind': withOwners({ kind: '' }),
  'an owner without apiVersion': withOwners({ apiVersion: '' }),
  'an owner without name': withOwners({ name: '' }),
  'an owner without uid': withOwners({ uid: '' }),
  'an owner with a strange apiVersion': withOwners({ apiVersion: 'a/b/c' }),
  'an Event for an owner': withOwners({ kind: 'Event' }),
  'two controllers': withOwners({ controller: true }, { name: 'p', uid: 'v', controller: true }),
  'a finalizer without a domain': configMap('v', { metadata: { finalizers: ['hold'] } }),
  'several faults': configMap('V_', { data: { 'a b': 'x' }, metadata: { labels: { a: 'x y' } } }),
};

const VALID: Readonly<Record<string, object>> = {
  'a name of 253 characters': named(long(253)),
  'a name with dots': named('a.b-c.1'),
  'a key of 253 characters': configMap('long-key', { data: { [long(253)]: 'x' } }),
  'keys with dots, dashes and underscores': configMap('keys', { data: { '.a': '', 'A-_.b': 'x', _: 'y' } }),
  '1 MiB of data': configMap('full', { data: { a: long(KIBIBYTE * KIBIBYTE) } }),
  'an upper-case prefix of an annotation': configMap('upper', {
    metadata: { annotations: { 'E.com/X': 'x' } },
  }),
  'an empty label value': configMap('label', { metadata: { labels: { 'e.com/x': '' } } }),
  'nulls and empty maps': configMap('empty', { data: null, binaryData: {}, metadata: { labels: null } }),
  'the same owner twice': configMap('owned', { metadata: { ownerReferences: [owner({}), owner({})] } }),
};

export function validationContract(server: TestServer): void {
  describe('validation', () => {
    const { create, path, request } = useRoom(server, 'validation');

    test.each(Object.entries(INVALID))('%s is refused', async (_what, body) => {
      await request('POST', path(), { body });
    });

    test.each(Object.entries(VALID))('%s is accepted', async (_what, body) => {
      await request('POST', path(), { body });
    });

    test('an immutable ConfigMap keeps its content, and its metadata may change', async () => {
      const content = { immutable: true, data: { a: 'b' }, binaryData: { b: 'eA==' } };
      await create('immutable', content);
      const put = (fields: object) =>
        request('PUT', path('immutable'), { body: configMap('immutable', fields) });

      await put({ ...content, data: { a: 'c' } });
      await put({ immutable: true, data: { a: 'b' } });
      await put({ ...content, immutable: false });
      await put({ data: { a: 'c' } });
      await put({ ...content, metadata: { labels: { x: 'y' } } });
    });

    test('an update is validated too', async () => {
      await create('valid');
      await request('PUT', path('valid'), { body: configMap('valid', { data: { 'a b': 'x' } }) });
      const body = { metadata: { labels: { a: 'x y' } } };
      await request('PATCH', path('valid'), { body, contentType: MERGE });
    });
  });
}
