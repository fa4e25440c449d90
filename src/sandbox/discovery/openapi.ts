/** The schemas of the served kinds as OpenAPI v3, for `kubectl explain`, `apply` and validation. */
import { createHash } from 'node:crypto';
import type { Kind } from '../kinds/kinds.ts';
import { kinds } from '../kinds/resources.ts';
import type { Json, JsonObject } from '../objects/json.ts';
import type { FieldSchema, Schema, StructSchema } from '../schema/schema.ts';
import { groups } from './served-resources.ts';

/** JSON text of the document at `path`; undefined when there is none. */
export function openApiAt(path: readonly string[]): string | undefined {
  const [root, version, ...rest] = path;
  if (root !== 'openapi') return undefined;
  if (version === 'v2' && rest.length === 0) return JSON.stringify({ swagger: '2.0', info, paths: {} });
  if (version !== 'v3') return undefined;
  if (rest.length === 0) return JSON.stringify({ paths: index() });
  const group = groups.find((name) => pathOf(name) === rest.join('/'));
  return group === undefined ? undefined : JSON.stringify(documentOf(group));
}

const info = { title: 'Kubernetes', version: 'sandbox' };

/** Media type of OpenAPI v2 in protobuf, the only form of it that kubectl reads. */
export const OPENAPI_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/**
 * OpenAPI v2 without schemas, in protobuf: only field 1 (`swagger`). kubectl reads it to validate
 * kinds that v3 lacks. It finds none here, skips the validation and reports `no matches for kind`.
 */
export const openApiV2Protobuf: Buffer = Buffer.from('\n\u00032.0');

const pathOf = (group: string): string => (group === '' ? 'api/v1' : `apis/${group}/v1`);

function index(): JsonObject {
  return Object.fromEntries(
    groups.map((group) => {
      const hash = createHash('sha256')
        .update(JSON.stringify(documentOf(group)))
        .digest('hex');
      return [pathOf(group), { serverRelativeURL: `/openapi/v3/${pathOf(group)}?hash=${hash}` }];
    }),
  );
}

function documentOf(group: string): JsonObject {
  const served = kinds.filter((kind) => kind.group === group);
  return {
    openapi: '3.0.0',
    info,
    paths: Object.assign({}, ...served.map(pathsOf)) as JsonObject,
    components: { schemas: schemasOf(served) },
  };
}

/** kubectl looks here for the query parameters of a write, above all fieldValidation. */
function pathsOf(kind: Kind): JsonObject {
  const base = `/${pathOf(kind.group)}`;
  const scope = kind.namespaced ? '/namespaces/{namespace}' : '';
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string', uniqueItems: true },
  }));
  const operation = (action: string) => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk,
    parameters,
    responses: { '200': { description: 'OK' } },
  });
  return {
    [`${base}${scope}/${kind.resource}`]: { post: operation('post') },
    [`${base}${scope}/${kind.resource}/{name}`]: { put: operation('put'), patch: operation('patch') },
  };
}

function schemasOf(served: readonly Kind[]): JsonObject {
  const schemas = new Map<string, Json>();
  for (const kind of served) {
    addSchema(schemas, kind.schema);
    const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
    const own = schemas.get(kind.schema.definition);
    schemas.set(kind.schema.definition, {
      ...(own as JsonObject),
      'x-kubernetes-group-version-kind': [gvk],
    });
  }
  return Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function addSchema(schemas: Map<string, Json>, schema: StructSchema): void {
  if (schemas.has(schema.definition)) return;
  schemas.set(schema.definition, {});
  const required = schema.fields.filter((field) => field.required).map((field) => field.name);
  const properties = Object.fromEntries(
    schema.fields.map((field) => [field.name, propertyOf(field, schemas)]),
  );
  schemas.set(schema.definition, {
    description: schema.description,
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties,
    ...(schema.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
  });
}

function propertyOf(field: FieldSchema, schemas: Map<string, Json>): Json {
  const shape = shapeOf(field.schema, schemas);
  // OpenAPI v3 allows nothing beside a reference, so the description needs a wrapper.
  if (field.schema.type === 'struct') {
    return { description: field.description, default: {}, allOf: [shape] };
  }
  return { description: field.description, ...shape };
}

function shapeOf(schema: Schema, schemas: Map<string, Json>): JsonObject {
  switch (schema.type) {
    case 'struct':
      addSchema(schemas, schema);
      return { $ref: `#/components/schemas/${schema.definition}` };
    case 'map':
      return { type: 'object', additionalProperties: shapeOf(schema.values, schemas) };
    case 'list':
      return {
        type: 'array',
        items: shapeOf(schema.items, schemas),
        'x-kubernetes-list-type': schema.listType,
        ...(schema.listMapKeys ? { 'x-kubernetes-list-map-keys': schema.listMapKeys } : {}),
        ...(schema.patchMerge ? { 'x-kubernetes-patch-strategy': 'merge' } : {}),
        ...(schema.patchMerge?.key ? { 'x-kubernetes-patch-merge-key': schema.patchMerge.key } : {}),
      };
    case 'string':
      return { type: 'string' };
    case 'boolean':
      return { type: 'boolean' };
    case 'int32':
    case 'int64':
      return { type: 'integer', format: schema.type };
    case 'bytes':
      return { type: 'string', format: 'byte' };
    case 'time':
    case 'microTime':
      return { type: 'string', format: 'date-time' };
    case 'any':
      return { type: 'object' };
  }
}
