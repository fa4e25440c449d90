import type { Json, JsonObject } from '../objects/json.ts';
import { type KubeObject, toObject } from '../objects/kube-object.ts';
import { decode } from '../schema/decode.ts';
import { apiVersionOf, type Kind } from './kinds.ts';

export interface DecodedObject {
  readonly object: KubeObject;
  readonly strictErrors: readonly string[];
}

/** `json` decoded by the kind's schema, whatever kind it names itself. Throws `DecodeError`. */
export function decodeAs(kind: Kind, json: Json): DecodedObject {
  const { object, strictErrors } = decode(kind.schema, json);
  const { kind: _kind, apiVersion: _apiVersion, ...members } = object;
  return {
    object: toObject({ kind: kind.kind, apiVersion: apiVersionOf(kind), ...members } as JsonObject),
    strictErrors,
  };
}

/** An object with only the fields that the encoder never omits. */
export const emptyObject = (kind: Kind): KubeObject => decodeAs(kind, {}).object;
