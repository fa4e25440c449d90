import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** Reads a key as Standard Webhooks writes it: `whsec_` and base64. Undefined if it is not one. */
export function parseSigningKey(text: string): Buffer | undefined {
  const encoded = text.trim();
  if (!encoded.startsWith(PREFIX)) return undefined;
  const key = Buffer.from(encoded.slice(PREFIX.length), 'base64');
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme
  return key.length >= 24 && key.length <= 64 ? key : undefined;
}

/**
 * The headers of Standard Webhooks (SPEC N3): one signature for each key, so that a receiver may
 * know the old key or the new one.
 */
export function signatureHeaders(
  id: string,
  body: string,
  keys: readonly Buffer[],
  now: Date,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const sign = (key: Buffer) =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(keys.length > 0 && { 'webhook-signature': keys.map(sign).join(' ') }),
  };
}
