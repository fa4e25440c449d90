import { describe, test } from 'vitest';
import { query, useRoom } from './room.ts';
import type { Server } from './server.ts';

const MICRO = '2026-01-02T03:04:05.678901Z';
const TIME = '2026-01-02T03:04:05Z';

export function eventsContract(server: Server): void {
  describe('events', () => {
    const { check, namespace, path, same, request } = useRoom(server, 'events');
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

    test('an event of the core group is seen in both groups', async () => {
      await check('POST', core(), { body: event('old') });
      await check('GET', core('old'));
      await check('GET', group('old'));
    });

    test('an event of events.k8s.io is seen in both groups', async () => {
      await check('POST', group(), { body: newEvent('new') });
      await check('GET', group('new'));
      await check('GET', core('new'));
    });

    test('a series', async () => {
      await check('POST', group(), { body: newEvent('series') });
      const patch = (body: object) =>
        check('PATCH', group('series'), { body, contentType: 'application/merge-patch+json' });

      await patch({ series: { count: 2, lastObservedTime: MICRO } });
      await patch({ note: 'another' });
    });

    test('counting up an event of the core group', async () => {
      await check('POST', core(), { body: event('counted') });
      const body = { count: 2, lastTimestamp: '2026-01-02T04:04:05Z', message: 'again' };
      await check('PATCH', core('counted'), { body, contentType: 'application/strategic-merge-patch+json' });
    });

    test.each([
      ['an object in another namespace', { involvedObject: about('source', { namespace: 'other' }) }],
      ['an object without a namespace', { involvedObject: { kind: 'ConfigMap', name: 'x' } }],
      ['no object', { involvedObject: {} }],
      ['an unknown type', { type: 'Strange' }],
      ['a message of 2,000 characters', { message: 'x'.repeat(2000) }],
      ['a name of 254 characters', { metadata: { name: 'x'.repeat(254) } }],
      ['an eventTime without a controller', { eventTime: MICRO }],
    ])('core group: %s', async (what, fields) => {
      const name = what.replaceAll(/\W+/g, '-').toLowerCase();
      const { code, body } = await request('POST', core(), { body: event(name, fields) });
      same({ code, reason: body.reason, message: (body.message ?? '').slice(0, 600) });
    });

    test.each([
      ['no eventTime', { eventTime: null }],
      ['no controller', { reportingController: '' }],
      ['a controller that is no qualified name', { reportingController: 'a b' }],
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
    ])('events.k8s.io: %s', async (what, fields) => {
      const name = `new-${what.replaceAll(/\W+/g, '-').toLowerCase()}`;
      const { code, body } = await request('POST', group(), { body: newEvent(name, fields) });
      same({ code, reason: body.reason, message: (body.message ?? '').slice(0, 600) });
    });

    test('field selectors', async () => {
      await request('POST', core(), {
        body: event('found', { involvedObject: about('findme'), reason: 'Found', type: 'Warning' }),
      });
      const select = async (target: string, fieldSelector: string) => {
        const { code, body } = await request('GET', `${target}?${query({ fieldSelector })}`);
        same({
          fieldSelector,
          code,
          names: body.items?.map(({ metadata }) => metadata.name),
          message: body.message,
        });
      };
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
      await check('POST', core(), { body: event('passing') });
      await check('DELETE', core('passing'));
    });
  });
}
