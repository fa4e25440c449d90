import { describe, expect, test } from 'vitest';
import {
  copiedMetadata,
  formatCopiedKeys,
  mayCopy,
  parseCopiedKeys,
} from '../../../src/mirror/companion/copied-metadata.ts';
import { type StringMap, vocabularyOf } from '../../../src/mirror/vocabulary.ts';
import { observed, source, vocabulary } from '../wire.ts';

function copiedFrom(asks: StringMap, labels: StringMap, annotations: StringMap = {}) {
  const { request } = observed(source('team-a/colors', asks));
  if (!request?.ok) throw new Error('a bad request');
  return copiedMetadata({ labels, annotations }, request.value, vocabulary);
}

describe('[M7] copied metadata', () => {
  test('is nothing by default', () => {
    expect(copiedFrom({}, { team: 'a' }, { note: 'b' })).toEqual({ labels: {}, annotations: {} });
  });

  test('is what the two annotations name', () => {
    const asks = { 'copy-labels': 'team, app.example.com/*', 'copy-annotations': 'note' };
    const labels = { team: 'a', note: 'no', 'app.example.com/tier': 'db', tier: 'no' };
    expect(copiedFrom(asks, labels, { note: 'b', team: 'no' })).toEqual({
      labels: { team: 'a', 'app.example.com/tier': 'db' },
      annotations: { note: 'b' },
    });
  });

  const denied = [
    'kubectl.kubernetes.io/last-applied-configuration',
    'kubectl.kubernetes.io/restartedAt',
    'argocd.argoproj.io/instance',
    'app.kubernetes.io/instance',
    'app.kubernetes.io/managed-by',
    'meta.helm.sh/release-name',
    'helm.toolkit.fluxcd.io/name',
    'kustomize.toolkit.fluxcd.io/name',
    'workshop.io/managed',
    'workshop.io/anything',
  ];
  test.for(denied)('never includes %s, even on request', (key) => {
    const asks = { 'copy-labels': `*, ${key}`, 'copy-annotations': `*, ${key}` };
    const { labels, annotations } = copiedFrom(asks, { [key]: 'x', team: 'a' }, { [key]: 'x', note: 'b' });
    expect([labels, annotations]).toEqual([{ team: 'a' }, { note: 'b' }]);
  });

  test.for([
    'app.kubernetes.io/name',
    'app.kubernetes.io/instance-of',
    'kubernetes.io/description',
    'my.workshop.io/x',
    'workshop.io',
    'constructor',
  ])('may hold %s', (key) => {
    expect(copiedFrom({ 'copy-labels': '*' }, { [key]: 'x' }).labels).toEqual({ [key]: 'x' });
  });

  test('never includes the domain in use', () => {
    expect(mayCopy('workshop.io/x', vocabularyOf('example.com'))).toBe(true);
    expect(mayCopy('example.com/x', vocabularyOf('example.com'))).toBe(false);
  });
});

describe('[M7] the list of what was copied', () => {
  test('is sorted, and absent when empty', () => {
    expect(formatCopiedKeys({ labels: { b: '1', a: '2' }, annotations: { d: '3', c: '4' } })).toBe(
      '{"labels":["a","b"],"annotations":["c","d"]}',
    );
    expect(formatCopiedKeys({ labels: {}, annotations: {} })).toBeUndefined();
  });

  test('can be read back', () => {
    const text = formatCopiedKeys({ labels: { 'x/y~z': '1' }, annotations: { 'a,b': '2' } });
    expect(parseCopiedKeys(text, vocabulary)).toEqual({ labels: ['x/y~z'], annotations: ['a,b'] });
  });

  const nothing = { labels: [], annotations: [] };
  test.for([
    undefined,
    '',
    'team',
    '{',
    'null',
    '7',
    '[]',
    '{}',
    '{"labels":null}',
    '{"labels":"team","annotations":{"a":"b"}}',
    '{"labels":[1,null,["team"],{}]}',
  ])('says nothing when it reads %j', (text) => {
    expect(parseCopiedKeys(text, vocabulary)).toEqual(nothing);
  });

  test('is read in part when only one part is valid', () => {
    const half = '{"labels":"team","annotations":["note"]}';
    expect(parseCopiedKeys(half, vocabulary)).toEqual({ labels: [], annotations: ['note'] });
  });

  test('has each key once', () => {
    const twice = '{"labels":["team","team"],"annotations":["note","note"]}';
    expect(parseCopiedKeys(twice, vocabulary)).toEqual({ labels: ['team'], annotations: ['note'] });
  });

  test('cannot name keys that are not ours to remove', () => {
    const forged = '{"labels":["workshop.io/managed","team"],"annotations":["argocd.argoproj.io/instance"]}';
    expect(parseCopiedKeys(forged, vocabulary)).toEqual({ labels: ['team'], annotations: [] });
  });
});
