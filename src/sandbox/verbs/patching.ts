/** What a PUT or a patch (JSON, merge, strategic merge) makes of an object, and who then owns what. */

import { mediaTypeOf } from '../http/media-type.ts';
import { decodeAs, ParseError, parseJson, unknownKind } from '../http/request-body.ts';
import { invalid, invalidObject } from '../kinds/field-errors.ts';
import { apiVersionOf, type Kind, type Subresource } from '../kinds/kinds.ts';
import {
  byCodeUnit,
  goText,
  isObject,
  type Json,
  type JsonObject,
  objectOf,
  stringAt,
} from '../objects/json.ts';
import { type KubeObject, toJson, withMeta } from '../objects/kube-object.ts';
import { badRequest, StatusError } from '../objects/status.ts';
import { entriesAfterUpdate, type Manager } from '../patch/managed-fields.ts';
import { jsonPatch, mergePatch } from '../patch/patch.ts';
import { strategicMerge } from '../patch/strategic-merge.ts';
import { DecodeError } from '../schema/decode.ts';
import type { WriteOptions } from './write-options.ts';

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const PATCH_TYPES = new Map<string, PatchType>([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
]);

export function patchTypeOf(contentType: string | undefined): PatchType {
  const type = PATCH_TYPES.get(mediaTypeOf(contentType));
  if (!type) throw new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  return type;
}

/** Who writes, in which version, through what. */
export interface Writer {
  readonly kind: Kind;
  readonly subresource: Subresource;
  readonly options: WriteOptions;
  /** RFC 3339, for new managedFields entries. */
  readonly now: string;
}

export const managerOf = (
  { kind, subresource, options }: Writer,
  operation: Manager['operation'],
): Manager => ({
  name: options.fieldManager,
  operation,
  apiVersion: apiVersionOf(kind),
  subresource,
  resetFields: kind.resetFields(subresource),
});

export const emptyObject = (kind: Kind): KubeObject => decodeAs(kind, {}).object;

/** `after` with the ownership that it has once `writer` has put it in the place of `before`. Both in the request's version. */
export function owned(writer: Writer, before: KubeObject | undefined, after: KubeObject): KubeObject {
  const filled = writer.kind.canonicalize(after);
  const managedFields = entriesAfterUpdate(
    writer.kind.schema,
    before,
    filled,
    emptyObject(writer.kind),
    managerOf(writer, 'Update'),
    writer.now,
  );
  return withMeta(filled, { managedFields: managedFields.length === 0 ? undefined : managedFields });
}

export interface Patched {
  readonly object: KubeObject;
  readonly warnings: readonly string[];
}

/** `live` (in the request's version) after a JSON, merge or strategic merge patch. */
export function patched(
  writer: Writer,
  type: Exclude<PatchType, 'apply'>,
  text: string,
  live: KubeObject,
): Patched {
  const patch = parsePatch(type, text);
  const result = changedBy(writer.kind, type, patch, toJson(live));
  const refuse = (error: DecodeError | string): StatusError => {
    const why = error instanceof DecodeError ? error[type === 'strategic' ? 'conversion' : 'message'] : error;
    const shown = type === 'strategic' ? goText(patch) : textOf(result);
    return invalidObject({ group: '', name: '' }, '', [invalid('patch', shown, why)]);
  };
  const { object, warnings } = decodePatched(writer, result, refuse);
  return { object: owned(writer, live, object), warnings };
}

/** The strategic merge says what is wrong with a patch without naming itself. */
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

/** What a patch made must be an object of the kind; otherwise the patch is invalid, not the request. */
function decodePatched(
  { kind, options }: Writer,
  result: Json,
  refuse: (error: DecodeError | string) => StatusError,
): Patched {
  const named = isObject(result) ? stringAt(result, 'kind') || kind.kind : kind.kind;
  if (named !== kind.kind) throw refuse(unknownKind(kind, named, apiVersionOf(kind)));
  try {
    const { object, strictErrors } = decodeAs(kind, result);
    if (options.fieldValidation === 'Strict' && strictErrors.length > 0) {
      throw refuse(`strict decoding error: ${strictErrors.join(', ')}`);
    }
    return { object, warnings: options.fieldValidation === 'Warn' ? strictErrors : [] };
  } catch (error) {
    throw error instanceof DecodeError ? refuse(error) : error;
  }
}

/** An object as the real server has it after a patch: in order, but for the metadata. */
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
