import { malformed } from './errors.ts';
import type { ApiRequest, Transport } from './transport.ts';

/** Sends the request and reads its answer. Rejects as `transport.call`, and with `NetworkError` (`MALFORMED`) for anything but an object. */
export async function callForObject<T>(transport: Transport, request: ApiRequest): Promise<T> {
  const { body } = await transport.call(request);
  const object = parseJsonObject(body);
  if (object === undefined) throw malformed(transport.server);
  return object as T;
}

/** The JSON object in `text`; undefined when it is no JSON or not an object. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
