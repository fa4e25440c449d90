import { equal, type JsonObject, objectAt } from '../objects/json.ts';
import { fieldOf, type KubeObject, toJson } from '../objects/kube-object.ts';
import { configMapSchema } from '../schema/object-schemas.ts';
import { type FieldError, forbiddenField, invalid, tooLong } from './field-errors.ts';
import { configMapKeyProblems, dnsSubdomainProblems } from './formats.ts';
import { ageColumn, column, type Kind, nameColumn, plainKind } from './kinds.ts';
import { builtInMetaErrors, metaUpdateErrors } from './validation.ts';

/** Maximum size (bytes) of all values of data and binaryData together. */
const DATA_LIMIT = 1024 * 1024;

export const configMapKind: Kind = {
  ...plainKind,
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  namespaced: true,
  schema: configMapSchema,
  collection: 'configmaps',
  nameRule: dnsSubdomainProblems,
  createOnUpdate: false,
  unconditionalUpdate: true,
  validate,
  validateUpdate: (object, old) => [
    ...metaUpdateErrors(object.metadata, old.metadata),
    ...(fieldOf(old, 'immutable') === true ? immutabilityErrors(object, old) : []),
    ...validate(object),
  ],
  columns: [
    nameColumn,
    column(
      'Data',
      "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.",
    ),
    ageColumn,
  ],
  cells: (object, age) => [
    object.metadata.name,
    Object.keys(dataOf(object)).length + Object.keys(binaryDataOf(object)).length,
    age(object.metadata.creationTimestamp),
  ],
};

const dataOf = (object: KubeObject): JsonObject => objectAt(toJson(object), 'data');
const binaryDataOf = (object: KubeObject): JsonObject => objectAt(toJson(object), 'binaryData');

/** k8s.io/kubernetes pkg/apis/core/validation ValidateConfigMap. */
function validate(object: KubeObject): FieldError[] {
  const data = dataOf(object);
  const binaryData = binaryDataOf(object);
  const size =
    Object.values(data).reduce((sum: number, value) => sum + Buffer.byteLength(String(value)), 0) +
    Object.values(binaryData).reduce(
      (sum: number, value) => sum + Buffer.byteLength(String(value), 'base64'),
      0,
    );
  return [
    ...builtInMetaErrors(object.metadata, true, dnsSubdomainProblems),
    ...Object.keys(data).flatMap((key) => [
      ...keyErrors('data', key),
      ...(Object.hasOwn(binaryData, key)
        ? [invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')]
        : []),
    ]),
    ...Object.keys(binaryData).flatMap((key) => keyErrors('binaryData', key)),
    // The real server prints the empty path of the whole object as `[]`.
    ...(size > DATA_LIMIT ? [tooLong('[]', DATA_LIMIT)] : []),
  ];
}

const keyErrors = (map: string, key: string): FieldError[] =>
  configMapKeyProblems(key).map((problem) => invalid(`${map}[${key}]`, key, problem));

function immutabilityErrors(object: KubeObject, old: KubeObject): FieldError[] {
  const why = 'field is immutable when `immutable` is set';
  return [
    ...(fieldOf(object, 'immutable') === true ? [] : [forbiddenField('immutable', why)]),
    ...['data', 'binaryData']
      .filter((name) => !equal(fieldOf(object, name), fieldOf(old, name)))
      .map((name) => forbiddenField(name, why)),
  ];
}
