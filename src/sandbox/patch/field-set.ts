/**
 * Sets of fields as a trie, as FieldsV1 writes them (KEP-555): `f:name` is a field or map key,
 * `k:{…}` the list item with those key fields, `v:…` the set element of that value, `.` the thing
 * itself beside its children.
 */
import { byCodeUnit, isObject, type Json, type JsonObject, objectOf } from '../objects/json.ts';

export interface FieldSet {
  /** Whether the path to this node is itself in the set. */
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const noFields: FieldSet = { member: false, children: new Map() };
export const itself: FieldSet = { member: true, children: new Map() };

export const isEmpty = (set: FieldSet): boolean => !set.member && set.children.size === 0;

/** A set from its parts, without empty children. */
export function fieldSet(member: boolean, children: Iterable<readonly [string, FieldSet]>): FieldSet {
  return { member, children: new Map([...children].filter(([, child]) => !isEmpty(child))) };
}

type Combine = (a: boolean, b: boolean) => boolean;

function combine(a: FieldSet, b: FieldSet, keep: Combine): FieldSet {
  const steps = new Set([...a.children.keys(), ...b.children.keys()]);
  return fieldSet(
    keep(a.member, b.member),
    [...steps].map((step) => [
      step,
      combine(a.children.get(step) ?? noFields, b.children.get(step) ?? noFields, keep),
    ]),
  );
}

export const union = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, (x, y) => x || y);
export const difference = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, (x, y) => x && !y);
export const intersection = (a: FieldSet, b: FieldSet): FieldSet => combine(a, b, (x, y) => x && y);

/** The set with the parents of all its paths. */
export const withParents = (set: FieldSet): FieldSet =>
  fieldSet(
    !isEmpty(set),
    [...set.children].map(([step, child]) => [step, withParents(child)]),
  );

/** The set without `path` and everything below. */
export function without(set: FieldSet, path: readonly string[]): FieldSet {
  const [step, ...rest] = path;
  if (step === undefined) return noFields;
  return fieldSet(
    set.member,
    [...set.children].map(([name, child]) => [name, name === step ? without(child, rest) : child]),
  );
}

/** Every path in the set, parents before children. */
export function* pathsOf(set: FieldSet, path: readonly string[] = []): Generator<readonly string[]> {
  if (set.member && path.length > 0) yield path;
  for (const [step, child] of set.children) yield* pathsOf(child, [...path, step]);
}

/** A path as in conflict messages: `.metadata.labels.app`, `.metadata.finalizers["x"]`. */
export function printPath(path: readonly string[]): string {
  return path
    .map((step) => {
      const text = step.slice(2);
      if (step.startsWith('f:')) return `.${text}`;
      if (step.startsWith('v:')) return `[=${text}]`;
      return `[${text.slice(1, -1).replace(/"([^"]*)":/g, '$1=')}]`;
    })
    .join('');
}

export function toFieldsV1(set: FieldSet): JsonObject {
  const children = [...set.children].sort(([a], [b]) => byCodeUnit(a, b));
  const own: [string, Json][] = set.member && children.length > 0 ? [['.', {}]] : [];
  return objectOf([...own, ...children.map(([step, child]) => [step, toFieldsV1(child)] as const)]);
}

export function fromFieldsV1(json: Json | undefined): FieldSet {
  if (!isObject(json)) return noFields;
  return fieldSet(
    false,
    Object.entries(json).map(([step, child]) => [step, childFromFieldsV1(child)]),
  );
}

function childFromFieldsV1(json: Json): FieldSet {
  const entries = isObject(json) ? Object.entries(json) : [];
  const children = entries.filter(([step]) => step !== '.');
  return fieldSet(
    children.length === 0 || children.length < entries.length,
    children.map(([step, child]) => [step, childFromFieldsV1(child)]),
  );
}
