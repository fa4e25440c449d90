import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { type CloudEventOptions, cloudEvent, notificationId } from '../../src/notify/delivery/cloud-event.ts';
import { parseSigningKey, signatureHeaders } from '../../src/notify/delivery/signature.ts';
import { slackBody } from '../../src/notify/delivery/slack.ts';
import { EVENT_TYPES, fullType, parseEventType } from '../../src/notify/event-types.ts';
import type { Notification } from '../../src/notify/state/record.ts';
import { eventOf } from './receiver.ts';

const NOW = new Date();
const source = { uid: 'a-uid', ref: objectKey('shop', 'colors') };
const changed: Notification = {
  ...{ type: 'source.changed', seq: 7, version: 'b'.repeat(64), previousVersion: 'a'.repeat(64) },
  ...{
    at: '2026-01-01T00:00:00.000Z',
    resourceVersion: '12',
    changedKeys: ['sky'],
    companions: { 'in sync': 2 },
  },
};
const options: CloudEventOptions = {
  ...{ id: 'an-id', cluster: 'a-cluster', ...source, notification: changed },
  ...{ withKeys: true, content: undefined },
};

const read = (body: string) =>
  eventOf({ headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' }, body });

describe('the body of a webhook', () => {
  it('[N2] is a CloudEvent to the SDK', () => {
    const event = read(cloudEvent(options));
    expect(event.validate()).toBe(true);
    expect(event).toMatchObject({
      id: 'an-id',
      source: '/mirror-controller/a-cluster',
      type: 'io.workshop.mirror.source.changed.v1',
      subject: 'shop/colors',
      time: '2026-01-01T00:00:00.000Z',
      sequence: '7',
      datacontenttype: 'application/json',
      data: {
        uid: 'a-uid',
        resourceVersion: '12',
        version: 'b'.repeat(64),
        previousVersion: 'a'.repeat(64),
        changedKeys: ['sky'],
        companions: { 'in sync': 2 },
      },
    });
    expect(event.data).not.toHaveProperty('data');
  });

  it('[N2] is one whatever the cluster is called', () => {
    const sourceFor = (cluster: string) => {
      const event = read(cloudEvent({ ...options, cluster }));
      expect(event.validate()).toBe(true);
      return event.source;
    };
    expect(sourceFor('arn:aws:eks:eu-west-1:1234:cluster/prod')).toBe(
      '/mirror-controller/arn:aws:eks:eu-west-1:1234:cluster/prod',
    );
    expect(sourceFor('Zürich <2>')).toBe('/mirror-controller/Z%C3%BCrich%20%3C2%3E');
  });

  it('[N1] names no keys with content: none', () => {
    expect(cloudEvent({ ...options, withKeys: false })).not.toContain('sky');
  });

  it('[N2] has the data with content: full, up to 256 KiB', () => {
    const content = { data: { sky: 'blue' }, binaryData: { logo: 'AP8=' } };
    expect(read(cloudEvent({ ...options, content })).data).toMatchObject(content);
    const large = { data: { sky: 'x'.repeat(256 * 1024) }, binaryData: {} };
    const { data } = read(cloudEvent({ ...options, content: large }));
    expect(data).toMatchObject({ contentOmitted: true });
    expect(data).not.toHaveProperty('data');
    expect(read(cloudEvent({ ...options, content: 'omitted' })).data).toMatchObject({ contentOmitted: true });
  });

  it('[N3] has an id that is the same for every attempt, and differs by all that it is about', () => {
    const id = notificationId('ops', 'a-uid', changed);
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect(notificationId('ops', 'a-uid', { ...changed, at: 'later', companions: {} })).toBe(id);
    const others = [
      notificationId('chat', 'a-uid', changed),
      notificationId('ops', 'another', changed),
      notificationId('ops', 'a-uid', { ...changed, seq: 8 }),
      notificationId('ops', 'a-uid', { ...changed, version: 'c' }),
      notificationId('ops', 'a-uid', { ...changed, type: 'source.created' }),
    ];
    expect(new Set([id, ...others]).size).toBe(6);
  });

  it('[N1] types have short and full names', () => {
    for (const type of EVENT_TYPES) {
      expect(parseEventType(type)).toBe(type);
      expect(parseEventType(fullType(type))).toBe(type);
    }
    expect(parseEventType('toString')).toBeUndefined();
  });
});

describe('the signature', () => {
  const key = (fill: number) => `whsec_${Buffer.alloc(24, fill).toString('base64')}`;
  const parsedKey = (text: string) => {
    const parsed = parseSigningKey(text);
    if (parsed === undefined) throw new Error('not a key');
    return parsed;
  };

  it('[N3] is what the standardwebhooks package accepts, with the old key and the new one', () => {
    const body = cloudEvent(options);
    const headers = signatureHeaders('an-id', body, [key(1), key(2)].map(parsedKey), NOW);
    for (const each of [key(1), key(2)]) {
      expect(new Webhook(each).verify(body, { ...headers })).toEqual(JSON.parse(body));
    }
    expect(() => new Webhook(key(3)).verify(body, { ...headers })).toThrow(/signature/i);
    expect(() => new Webhook(key(1)).verify(`${body} `, { ...headers })).toThrow(/signature/i);
  });

  it('[N3] an id without keys is still there', () => {
    expect(Object.keys(signatureHeaders('an-id', '', [], NOW))).toEqual(['webhook-id', 'webhook-timestamp']);
  });

  it.each(['', 'whsec_', 'secret', 'whsec_c2hvcnQ=', key(1).slice(6)])('[N3] %j is no key', (text) => {
    expect(parseSigningKey(text)).toBeUndefined();
  });
});

describe('a chat message', () => {
  const textOf = (body: string): string => JSON.parse(body).text;
  const created: Notification = { ...changed, type: 'source.created' };

  it('[N7] is a sentence about one source', () => {
    expect(textOf(slackBody([{ ...source, notification: created }], false))).toBe(
      'ConfigMap *shop/colors* is mirrored now (version bbbbbbbb)',
    );
    expect(textOf(slackBody([{ ...source, notification: changed }], true))).toBe(
      'ConfigMap *shop/colors* has changed (version bbbbbbbb): sky',
    );
  });

  it('[N7] escapes what others wrote', () => {
    const failing: Notification = { ...changed, type: 'companions.failing', reason: '<!channel> & <b>' };
    const text = textOf(slackBody([{ ...source, notification: failing }], false));
    expect(text).toContain('&lt;!channel&gt; &amp; &lt;b&gt;');
  });

  it('[N7] folds many sources into one message that names twenty', () => {
    const items = Array.from({ length: 30 }, (_, at) => ({
      ...{ uid: `uid-${at}`, ref: objectKey('shop', `source-${at}`) },
      notification: created,
    }));
    const text = textOf(slackBody([...items, { ...source, notification: changed }], true));
    const [first = '', second = ''] = text.split('\n');
    expect(first).toMatch(/^30 ConfigMaps are mirrored now: shop\/source-0, .*shop\/source-19 and 10 more$/);
    expect(second).toBe('1 ConfigMap has changed: shop/colors');
  });
});
