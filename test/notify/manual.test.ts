import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { objectKey } from '../../src/kube/api/object-key.ts';
import { cloudEvent } from '../../src/notify/delivery/cloud-event.ts';
import { FIELDS, parseNotifyConfig } from '../../src/notify/delivery/config.ts';
import { parseSigningKey, signatureHeaders } from '../../src/notify/delivery/signature.ts';
import { EVENT_TYPES } from '../../src/notify/event-types.ts';

const manual = readFileSync(new URL('../../docs/notifications.md', import.meta.url), 'utf8');

/** The names in the first cells of the table whose head begins so. */
function named(head: string): readonly string[] {
  const [, rows = ''] = manual.split(new RegExp(`^\\| ${head} \\|.*\\n.*\\n`, 'm'));
  const cells = rows.slice(0, rows.search(/^(?!\|)/m)).match(/^\|[^|]*/gm) ?? [];
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

/** Every field of a body with everything in it, in the order in which it is sent. */
function sentFields(): readonly string[] {
  const options = {
    ...{ id: 'id', cluster: 'cluster', withKeys: true },
    ...{ uid: 'uid', ref: objectKey('shop', 'colors') },
    notification: {
      ...{ type: 'source.changed' as const, seq: 1, version: 'v', at: 'then', resourceVersion: '1' },
      ...{ companions: {}, previousVersion: 'u', changedKeys: ['sky'], reason: 'why' },
    },
  };
  const content = { data: { sky: 'blue' }, binaryData: { logo: 'AP8=' } };
  const bodies = [cloudEvent({ ...options, content }), cloudEvent({ ...options, content: 'omitted' })];
  const fields = bodies.flatMap((body) => {
    const { data, ...event } = JSON.parse(body);
    return [...Object.keys(event), ...Object.keys(data).map((field) => `data.${field}`)];
  });
  return [...new Set(fields)];
}

describe('docs/notifications.md', () => {
  test('[N2] describes exactly the fields that are sent', () => {
    expect(named('field \\| is').toSorted()).toEqual(sentFields().toSorted());
  });

  test('[N2] describes exactly the types that there are', () => {
    expect(named('type')).toEqual(EVENT_TYPES);
  });

  test('[N1] describes exactly the fields of the file', () => {
    expect(named('field \\| default')).toEqual(FIELDS);
  });

  test('[N1] its files are valid', () => {
    const files = [...manual.matchAll(/^sinks:\n(?: {2}.*\n)+/gm)].map(([file]) => file);
    expect(files).toHaveLength(3);
    for (const file of files) expect(parseNotifyConfig(file, '/')).toMatchObject({ ok: true });
  });

  test('[N3] its four lines verify a signature', () => {
    const [, code = ''] = /```js\nimport .*\n\n([^`]*?(?:`[^`]+`[^`]*?)*)\n```/.exec(manual) ?? [];
    expect(code.split('\n')).toHaveLength(4);
    const names = ['createHmac', 'timingSafeEqual', 'request', 'key', 'body'];
    const run = new Function(...names, `${code}\nreturn [isGenuine, isFresh];`);
    const [old, key] = [1, 2].map((fill) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`);
    const keys = [old, key].flatMap((text = '') => parseSigningKey(text) ?? []);
    const verify = (headers: object, body: string) =>
      run(createHmac, timingSafeEqual, { headers }, key, body) as readonly boolean[];
    const headers = signatureHeaders('an-id', '{"a":1}', keys, new Date());
    expect(new Webhook(key ?? '').verify('{"a":1}', { ...headers })).toEqual({ a: 1 });
    expect(verify(headers, '{"a":1}')).toEqual([true, true]);
    expect(verify(headers, '{"a":2}')).toEqual([false, true]);
    expect(verify(signatureHeaders('an-id', '{}', keys, new Date(0)), '{}')).toEqual([true, false]);
    expect(verify({ ...headers, 'webhook-signature': 'v1,short' }, '{"a":1}')[0]).toBe(false);
  });
});
