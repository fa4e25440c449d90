import { unexpectedAnswer } from '../errors.ts';
import { parseJsonObject } from '../http/json.ts';
import type { ApiRequest, Transport } from '../http/transport.ts';
import { isKubeObject } from './is-kube-object.ts';

/**
 * Sends the request and parses its answer. Rejects like `transport.call`, and with `NetworkError`
 * (`MALFORMED`) if the answer is not a stored object.
 */
export async function callForObject<T>(transport: Transport, request: ApiRequest): Promise<T> {
  const object = parseJsonObject(await transport.call(request));
  if (!isKubeObject(object)) throw unexpectedAnswer(transport.server);
  return object as unknown as T;
}

/**
 * Sends a deletion. Rejects likewise if the answer is neither the object, which finalizers may keep,
 * nor a Status.
 */
export async function callForDeletion(transport: Transport, request: ApiRequest): Promise<void> {
  const answer = parseJsonObject(await transport.call(request));
  if (answer === undefined) throw unexpectedAnswer(transport.server);
}
