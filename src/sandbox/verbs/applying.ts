/**
 * The request of a server-side apply: checks the configuration, applies it and decodes the result.
 */

import { decodeAs, emptyObject } from '../kinds/decode-as.ts';
import { apiVersionOf } from '../kinds/kinds.ts';
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  memberAt,
  objectAt,
  objectOf,
  stringAt,
} from '../objects/json.ts';
import { ParseError, parseYaml } from '../objects/json-text.ts';
import { type KubeObject, toJson } from '../objects/kube-object.ts';
import { badRequest, conflict, StatusError } from '../objects/status.ts';
import { managerOf, type Writer } from '../patch/ownership.ts';
import { apply } from '../patch/server-side-apply.ts';
import { DecodeError } from '../schema/decode-error.ts';

/** `live` (absent on create) with the configuration in `text` applied. */
export function applied(
  writer: Writer,
  text: string,
  live: KubeObject | undefined,
  force: boolean,
): KubeObject {
  const { kind } = writer;
  const given = parseConfiguration(text);
  refuseOtherKind(writer, given);
  if (Object.hasOwn(objectAt(given, 'metadata'), 'managedFields')) {
    throw badRequest('metadata.managedFields must be nil');
  }
  const config = typed(writer, given);
  const { uid, name } = config.metadata;
  if (!live && uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict({ group: kind.group, name: kind.resource }, name, why);
  }
  const result = apply({
    schema: kind.schema,
    live,
    empty: emptyObject(kind),
    config: onlyGiven(toJson(config), given),
    manager: managerOf(writer, 'Apply'),
    force,
    now: writer.now,
  });
  return kind.canonicalize(decodeAs(kind, toJson(result)).object);
}

function parseConfiguration(text: string): JsonObject {
  try {
    const value = parseYaml(text) ?? {};
    if (isObject(value)) return value;
    const got = Array.isArray(value) ? 'array' : typeof value;
    throw new ParseError(
      `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${got} into Go value of type map[string]interface {}`,
    );
  } catch (error) {
    if (error instanceof ParseError) throw badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}

/** Unlike in other bodies, kind and apiVersion are required. */
function refuseOtherKind({ kind }: Writer, config: JsonObject): void {
  const apiVersion = stringAt(config, 'apiVersion');
  const name = stringAt(config, 'kind');
  if (apiVersion === apiVersionOf(kind) && name === kind.kind) return;
  throw badRequest(`invalid object type: ${groupVersion(apiVersion)}, Kind=${name}`);
}

/** As Go prints a group and version: `/v1` for the core group, `/` for none at all. */
const groupVersion = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;

/** The configuration as an object. Unknown fields are an error, whatever the field validation. */
function typed({ kind }: Writer, config: JsonObject): KubeObject {
  const metadata = objectAt(config, 'metadata');
  const place = `${stringAt(metadata, 'namespace')}/${stringAt(metadata, 'name')}; ${groupVersion(apiVersionOf(kind))}, Kind=${kind.kind}`;
  const refuse = (why: string) =>
    new StatusError(500, '', `failed to create typed patch object (${place}): ${why}`);
  try {
    const { object, strictErrors } = decodeAs(kind, config);
    const unknown = strictErrors.map((text) => `.${/"(.*)"/.exec(text)?.[1]}: field not declared in schema`);
    if (unknown.length === 1) throw refuse(unknown[0] ?? '');
    if (unknown.length > 1) throw refuse(`errors:\n${unknown.map((text) => `  ${text}`).join('\n')}`);
    return object;
  } catch (error) {
    throw error instanceof DecodeError ? refuse(error.typed) : error;
  }
}

/**
 * `decoded` with only the fields that were given, including empty maps and lists: the decoder's
 * defaults have no owner.
 */
function onlyGiven(decoded: JsonObject, given: JsonObject): JsonObject {
  const entries = Object.entries(given).flatMap(([key, value]): [string, Json][] => {
    const member = memberAt(decoded, key);
    if (member === undefined) return isObject(value) || isList(value) ? [[key, value]] : [];
    return [[key, isObject(member) && isObject(value) ? onlyGiven(member, value) : member]];
  });
  return objectOf(entries);
}
