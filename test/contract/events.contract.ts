import { describe, test } from 'vitest';
import type { TestServer } from '../support/servers/server.ts';
import { MERGE, query, useRoom } from './room.ts';

const MICRO = '2026-01-02T03:04:05.678901Z';
const TIME = '2026-01-02T03:04:05Z';

export function eventsContract(server: TestServer): void {
  describe('events', () => {
    const { namespace, path, request } = useRoom(server, 'events');
    const core = (name?: string) => path(name, 'events');
    const group = (name = '') =>
      `/apis/events.k8s.io/v1/namespaces/${namespace}/events${name === '' ? '' : `/${name}`}`;
    const about = (name: string, fields: object = {}) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      namespace,
      uid: '11111111-1111-1111-1111-111111111111',
      ...fields,
    });
    const event = (name: string, fields: object = {}) => ({
      metadata: { name },
      involvedObject: about('source'),
      reason: 'Mirrored',
      message: 'a companion was made',
      type: 'Normal',
      source: { component: 'mirror-controller' },
      firstTimestamp: TIME,
      lastTimestamp: TIME,
      count: 1,
      ...fields,
    });
    const newEvent = (name: string, fields: object = {}) => ({
      metadata: { name },
      regarding: about('source'),
      reason: 'Mirrored',
      note: 'a companion was made',
      type: 'Normal',
      action: 'Create',
      eventTime: MICRO,
      reportingController: 'workshop.io/mirror-controller',
      reportingInstance: 'here',
      ...fields,
    });

    test('an event of the core group can be read in both groups', async () => {
      await request('POST', core(), { body: event('old') });
      await request('GET', core('old'));
      await request('GET', group('old'));
    });

    test('an event of events.k8s.io can be read in both groups', async () => {
      await request('POST', group(), { body: newEvent('new') });
      await request('GET', group('new'));
      await request('GET', core('new'));
    });

    test('an event can become a series', async () => {
      await request('POST', group(), { body: newEvent('series') });
      const patch = (body: object) => request('PATCH', group('series'), { body, contentType: MERGE });

      await patch({ series: { count: 2, lastObservedTime: MICRO } });
      await patch({ note: 'another' });
    });

    test('the text of an event of events.k8s.io can change in the core group, with the series', async () => {
      await request('POST', group(), { body: newEvent('renoted') });
      const patch = (body: object) => request('PATCH', core('renoted'), { body, contentType: MERGE });

      await patch({ message: 'a companion was made' });
      await patch({ message: 'another', series: { count: 2, lastObservedTime: MICRO } });
      await patch({ message: 'a third' });
      await patch({ message: 'x'.repeat(1025) });
      await request('GET', group('renoted'));
      await request('POST', group(), { body: newEvent('renoted') });
    });

    test('an event of events.k8s.io can begin as a series', async () => {
      const series = { count: 3, lastObservedTime: MICRO };
      await request('POST', group(), { body: newEvent('several', { series }) });
    });

    test('the count of an event of the core group can be increased', async () => {
      await request('POST', core(), { body: event('counted') });
      const body = { count: 2, lastTimestamp: '2026-01-02T04:04:05Z', message: 'again' };
      await request('PATCH', core('counted'), {
        body,
        contentType: 'application/strategic-merge-patch+json',
      });
    });

    test.each([
      ['an object in another namespace', { involvedObject: about('source', { namespace: 'other' }) }],
      ['an object without a namespace', { involvedObject: { kind: 'ConfigMap', name: 'x' } }],
      ['no object', { involvedObject: {} }],
      ['an unknown type', { type: 'Strange' }],
      ['a message of 2,000 characters', { message: 'x'.repeat(2000) }],
      ['a name of 254 characters', { metadata: { name: 'x'.repeat(254) } }],
      ['an eventTime without a controller', { eventTime: MICRO }],
    ])('an event of the core group with %s is accepted or refused', async (what, fields) => {
      const name = what.replaceAll(/\W+/g, '-').toLowerCase();
      await request('POST', core(), { body: event(name, fields) });
    });

    test.each([
      ['no eventTime', { eventTime: null }],
      ['no controller', { reportingController: '' }],
      ['a controller without a qualified name', { reportingController: 'a b' }],
      ['no instance', { reportingInstance: '' }],
      ['no action', { action: '' }],
      ['no reason', { reason: '' }],
      ['no type', { type: '' }],
      ['an unknown type', { type: 'Strange' }],
      ['a note of 1,025 characters', { note: 'x'.repeat(1025) }],
      ['an action of 129 characters', { action: 'x'.repeat(129) }],
      ['a series of one', { series: { count: 1, lastObservedTime: MICRO } }],
      ['an object in another namespace', { regarding: about('source', { namespace: 'other' }) }],
      ['a deprecated count', { deprecatedCount: 2 }],
    ])('an event of events.k8s.io with %s is accepted or refused', async (what, fields) => {
      const name = `new-${what.replaceAll(/\W+/g, '-').toLowerCase()}`;
      await request('POST', group(), { body: newEvent(name, fields) });
    });

    test('field selectors choose events', async () => {
      await request('POST', core(), {
        body: event('found', { involvedObject: about('findme'), reason: 'Found', type: 'Warning' }),
      });
      const select = (target: string, fieldSelector: string) =>
        request('GET', `${target}?${query({ fieldSelector })}`);
      for (const selector of [
        'involvedObject.name=findme',
        'involvedObject.kind=ConfigMap,involvedObject.name=findme',
        `involvedObject.name=findme,involvedObject.namespace=${namespace}`,
        'involvedObject.name=findme,involvedObject.uid=11111111-1111-1111-1111-111111111111',
        'involvedObject.name=findme,involvedObject.apiVersion=v1',
        'reason=Found',
        'type=Warning,reason=Found',
        'source=mirror-controller,reason=Found',
        'reportingComponent=workshop.io/mirror-controller,metadata.name=new',
        'reason!=Found,metadata.name=found',
        'nonsense=x',
      ]) {
        await select(core(), selector);
      }
      await select(group(), 'regarding.name=findme');
      await select(group(), 'involvedObject.name=findme');
      await select(group(), 'reason=Found');
    });

    test('an event can be deleted', async () => {
      await request('POST', core(), { body: event('passing') });
      await request('DELETE', core('passing'));
    });
  });
}
