/** The request of a JSON, merge or strategic merge patch. */

import { decodeAs } from '../kinds/decode-as.ts';
import { invalid, invalidObject } from '../kinds/field-errors.ts';
import { apiVersionOf, type Kind } from '../kinds/kinds.ts';
import {
  byCodeUnit,
  goText,
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  stringAt,
} from '../objects/json.ts';
import { ParseError, parseJson } from '../objects/json-text.ts';
import { type KubeObject, toJson } from '../objects/kube-object.ts';
import { badRequest, type StatusError } from '../objects/status.ts';
import { owned, type Writer } from '../patch/ownership.ts';
import { jsonPatch, mergePatch } from '../patch/patch.ts';
import { strategicMerge } from '../patch/strategic-merge.ts';
import { DecodeError } from '../schema/decode-error.ts';
import { type Received, unknownKind, validated } from './receiving.ts';
import type { FieldValidation } from './write-options.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

/** `live` (in the request's version) after the patch in `text`. */
export function patched(
  writer: Writer,
  type: Exclude<PatchType, 'apply'>,
  text: string,
  live: KubeObject,
  validation: FieldValidation,
): Received {
  const patch = parsePatch(type, text);
  const result = changedBy(writer.kind, type, patch, toJson(live));
  const refuse = (error: DecodeError | string): StatusError => {
    const why = error instanceof DecodeError ? error[type === 'strategic' ? 'conversion' : 'message'] : error;
    const shown = type === 'strategic' ? goText(patch) : textOf(result);
    return invalidObject({ group: '', name: '' }, '', [invalid('patch', shown, why)]);
  };
  const { object, warnings } = decodePatched(writer.kind, result, validation, refuse);
  return { object: owned(writer, live, object), warnings };
}

/** The errors of a strategic merge have no prefix. */
const prefixOf = (type: PatchType): string => (type === 'strategic' ? '' : 'error decoding patch: ');

function parsePatch(type: PatchType, text: string): Json {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof ParseError) throw badRequest(prefixOf(type) + error.message);
    throw error;
  }
}

function changedBy(kind: Kind, type: Exclude<PatchType, 'apply'>, patch: Json, live: JsonObject): Json {
  if (type === 'json') return jsonPatch(live, patch);
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (!isObject(patch)) {
    const got = Array.isArray(patch) ? 'array' : typeof patch;
    throw badRequest(
      `${prefixOf(type)}json: cannot unmarshal ${got} into Go value of type map[string]interface {}`,
    );
  }
  return type === 'merge' ? mergePatch(live, patch) : strategicMerge(kind.schema, live, patch);
}

/**
 * The result must be an object of the kind. If it is not, the patch is invalid, not the request.
 */
function decodePatched(
  kind: Kind,
  result: Json,
  validation: FieldValidation,
  refuse: (error: DecodeError | string) => StatusError,
): Received {
  const named = isObject(result) ? stringAt(result, 'kind') || kind.kind : kind.kind;
  if (named !== kind.kind) throw refuse(unknownKind(kind, named, apiVersionOf(kind)));
  try {
    return validated(decodeAs(kind, result), validation, refuse);
  } catch (error) {
    throw error instanceof DecodeError ? refuse(error) : error;
  }
}

/** An object as the real server prints it after a patch: sorted, except for its metadata. */
const textOf = (value: Json): string =>
  JSON.stringify(
    sorted(
      isObject(value)
        ? objectOf(
            Object.entries(value).map(([key, member]) => [key, key === 'metadata' ? member : sorted(member)]),
          )
        : value,
    ),
  );

const sorted = (value: Json): Json =>
  isObject(value) ? objectOf(Object.entries(value).sort(([a], [b]) => byCodeUnit(a, b))) : value;
