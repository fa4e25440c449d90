import { createHash, type Hash, hash as hashOf } from 'node:crypto';

/** What a ConfigMap holds. Values of `binaryData` are base64, as on the wire. */
export interface Content {
  readonly data: Readonly<Record<string, string>>;
  readonly binaryData: Readonly<Record<string, string>>;
}

/**
 * The checksum of a content (SPEC M4): SHA-256, in lower-case hex, over this text of bytes:
 *
 *     data LF
 *     for each key of data, in ascending byte order:        KEYLENGTH SP VALUELENGTH LF KEY VALUE LF
 *     binaryData LF
 *     for each key of binaryData, in ascending byte order:  KEYLENGTH SP VALUELENGTH LF KEY VALUE LF
 *
 * KEY and the values of data are UTF-8; a value of binaryData is the bytes that its base64 stands for.
 * Lengths are counts of bytes, in decimal. LF is 0x0a, SP is 0x20.
 *
 * The lengths make it unambiguous (no value can imitate a key), the order makes it independent of map order,
 * the two headings tell data from binaryData, and an absent map equals an empty one. Test vector:
 * data `{b: "2", a: "é"}`, binaryData `{z: "AP8="}` (bytes 00 ff) is the SHA-256 of
 * `data\n1 2\naé\n1 1\nb2\nbinaryData\n1 2\nz<00><ff>\n`, that is
 * `1181a911af0fb27118cd4ce7d1d6ee77992acc8e7232cc11a8b9925543655f02`.
 *
 * This format is public: another program may compute it. It never changes without a new annotation.
 */
export function digestOf({ data, binaryData }: Content): string {
  // Made only for what is long, and then fed: in one call Node hashes a text as short as most are in half of the time.
  let hash: Hash | undefined;
  const feed = (part: string | Buffer) => {
    hash ??= createHash('sha256');
    hash.update(part);
  };
  let text = 'data\n';
  // ConfigMap keys are ASCII (the API server sees to it), so the default order, by UTF-16 unit, is byte order.
  for (const key of Object.keys(data).sort()) {
    const value = data[key] ?? '';
    text += entryHead(key, Buffer.byteLength(value));
    // Each call of the hash costs more than a short text itself; a long one need not be copied.
    if (value.length <= SHORT) {
      text += value;
    } else {
      feed(text);
      feed(value);
      text = '';
    }
    text += '\n';
  }
  text += 'binaryData\n';
  for (const key of Object.keys(binaryData).sort()) {
    const bytes = Buffer.from(binaryData[key] ?? '', 'base64');
    feed(text + entryHead(key, bytes.length));
    feed(bytes);
    text = '\n';
  }
  return hash === undefined ? hashOf('sha256', text) : hash.update(text).digest('hex');
}

/** Characters. */
const SHORT = 4096;

function entryHead(key: string, valueBytes: number): string {
  return `${Buffer.byteLength(key)} ${valueBytes}\n${key}`;
}
