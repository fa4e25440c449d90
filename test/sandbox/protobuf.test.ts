import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromProtobuf } from '../../src/sandbox/http/protobuf.ts';
import { StatusError } from '../../src/sandbox/objects/status.ts';
import { configMapSchema } from '../../src/sandbox/schema/object-schemas.ts';
import { accessReviewSchema } from '../../src/sandbox/schema/review-schemas.ts';

/** What kubectl 1.32.4 sends for `create configmap colors --from-literal=a=b`. */
const CONFIG_MAP = Buffer.from(
  '6b3873000a0f0a02763112' +
    '09436f6e6669674d617012200a160a06636f6c6f727312001a0022002a0032003800420012060a01611201621a002200',
  'hex',
);

describe('[B1] bodies in protobuf', () => {
  test('decodes what kubectl sends', () => {
    expect(fromProtobuf(configMapSchema, CONFIG_MAP)).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'colors', creationTimestamp: null },
      data: { a: 'b' },
    });
  });

  test('times, bytes, nested messages', () => {
    const field = (tag: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([(tag << 3) | 2, bytes.length]), bytes]);
    const time = field(8, Buffer.from([0x08, 0x80, 0xe7, 0x84, 0x0f]));
    const raw = Buffer.concat([
      field(1, Buffer.concat([field(1, Buffer.from('n')), time])),
      field(3, Buffer.concat([field(1, Buffer.from('k')), field(2, Buffer.from([0, 255]))])),
      Buffer.from([0x20, 0x01]),
    ]);
    const body = Buffer.concat([Buffer.from('k8s\0'), field(2, raw)]);
    expect(fromProtobuf(configMapSchema, body)).toMatchObject({
      metadata: {
        name: 'n',
        creationTimestamp: new Date(0x1e13380 * 1000).toISOString().replace('.000', ''),
      },
      binaryData: { k: 'AP8=' },
      immutable: true,
    });
  });

  test('any other bytes are refused with a 400 or decoded', () => {
    for (const bytes of [
      Buffer.from('{}'),
      CONFIG_MAP.subarray(0, 20),
      Buffer.from('k8s\0\xff\xff', 'latin1'),
    ]) {
      expect(() => fromProtobuf(configMapSchema, bytes)).toThrow(StatusError);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          fromProtobuf(accessReviewSchema, Buffer.concat([Buffer.from('k8s\0'), bytes]));
        } catch (error) {
          expect(error).toBeInstanceOf(StatusError);
        }
      }),
    );
  });
});
