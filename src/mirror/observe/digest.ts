import { createHash } from 'node:crypto';
import type { Content } from './content.ts';

/**
 * The checksum of a content (SPEC M4): SHA-256, in lower-case hex, over these bytes:
 *
 *     data LF
 *     for each key of data, in ascending byte order:       KEYLENGTH SP VALUELENGTH LF KEY VALUE LF
 *     binaryData LF
 *     for each key of binaryData, in ascending byte order: KEYLENGTH SP VALUELENGTH LF KEY VALUE LF
 *
 * KEY and the values of data are UTF-8. A value of binaryData is the bytes that its base64 encodes.
 * Lengths count bytes, in decimal. LF is 0x0a, SP is 0x20.
 *
 * An absent map equals an empty one. Because of the lengths no value can imitate a key.
 * Test vector: data `{b: "2", a: "é"}`, binaryData `{z: "AP8="}` (bytes 00 ff) is the SHA-256 of
 * `data\n1 2\naé\n1 1\nb2\nbinaryData\n1 2\nz<00><ff>\n`, that is
 * `1181a911af0fb27118cd4ce7d1d6ee77992acc8e7232cc11a8b9925543655f02`.
 *
 * The format is public: other programs may compute it. To change it, use a new annotation.
 */
export function digestOf({ data, binaryData }: Content): string {
  const hash = createHash('sha256').update('data\n');
  // Keys of a ConfigMap are ASCII, so the default order is byte order.
  for (const key of Object.keys(data).sort()) {
    const value = data[key] ?? '';
    hash.update(`${Buffer.byteLength(key)} ${Buffer.byteLength(value)}\n${key}${value}\n`);
  }
  hash.update('binaryData\n');
  for (const key of Object.keys(binaryData).sort()) {
    const bytes = Buffer.from(binaryData[key] ?? '', 'base64');
    hash
      .update(`${Buffer.byteLength(key)} ${bytes.length}\n${key}`)
      .update(bytes)
      .update('\n');
  }
  return hash.digest('hex');
}
