import { unexpectedAnswer } from '../errors.ts';
import { parseJsonObject } from '../http/json.ts';
import type { ApiRequest, Transport } from '../http/transport.ts';

/** Sends the request and reads its answer. Rejects as `transport.call`, and with `NetworkError` (`MALFORMED`) for anything but an object. */
export async function callForObject<T>(transport: Transport, request: ApiRequest): Promise<T> {
  const { body } = await transport.call(request);
  const object = parseJsonObject(body);
  if (object === undefined) throw unexpectedAnswer(transport.server);
  return object as T;
}
