/**
 * Objects as sets of fields, by their schema, for server-side apply
 * (sigs.k8s.io/structured-merge-diff `typed`): the fields of a value, comparing, merging and
 * removing fields.
 */

import { equal, isList, isObject, type Json, objectOf } from '../objects/json.ts';
import type { ListSchema, Schema } from '../schema/schema.ts';
import { type FieldSet, fieldSet, itself, noFields, union } from './field-set.ts';

/** The parts of a value with owners of their own, by step; undefined for an atomic value. */
function partsOf(schema: Schema, value: Json | undefined): ReadonlyMap<string, Part> | undefined {
  switch (schema.type) {
    case 'struct':
      if (schema.atomic) return undefined;
      return new Map(
        schema.fields.flatMap((field) => {
          const part = isObject(value) ? value[field.name] : undefined;
          return part === undefined
            ? []
            : [[`f:${field.name}`, { schema: field.schema, value: part, declared: true }]];
        }),
      );
    case 'map':
      return new Map(
        Object.entries(isObject(value) ? value : {}).map(([key, part]) => [
          `f:${key}`,
          { schema: schema.values, value: part, declared: false },
        ]),
      );
    case 'list':
      if (schema.listType === 'atomic') return undefined;
      return new Map(
        (isList(value) ? value : []).map((item) => [
          itemStep(schema, item),
          { schema: schema.items, value: item, declared: false },
        ]),
      );
    default:
      return undefined;
  }
}

interface Part {
  readonly schema: Schema;
  readonly value: Json;
  /** A field of a struct, as opposed to a key or item that somebody added. */
  readonly declared: boolean;
}

function itemStep(schema: ListSchema, item: Json): string {
  if (schema.listType === 'set') return `v:${JSON.stringify(item)}`;
  const keys = (schema.listMapKeys ?? []).map(
    (key) => [key, isObject(item) ? (item[key] ?? null) : null] as const,
  );
  return `k:${JSON.stringify(objectOf(keys))}`;
}

/** The fields that an applied configuration claims: `ToFieldSet`. */
export function fieldsOf(schema: Schema, value: Json): FieldSet {
  const parts = partsOf(schema, value);
  if (!parts || parts.size === 0 || value === null) return itself;
  return fieldSet(
    false,
    [...parts].map(([step, part]) => {
      const fields = fieldsOf(part.schema, part.value);
      return [step, part.declared ? fields : union(fields, itself)];
    }),
  );
}

export interface Comparison {
  /** Added or modified. */
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

const same: Comparison = { changed: noFields, removed: noFields };

/** What differs between two values; `Compare`. */
export function compare(schema: Schema, before: Json | undefined, after: Json | undefined): Comparison {
  if (before === undefined && after === undefined) return same;
  const partsBefore = partsOf(schema, before);
  const partsAfter = partsOf(schema, after);
  if (!partsBefore || !partsAfter || (partsBefore.size === 0 && partsAfter.size === 0)) {
    if (after === undefined) return { changed: noFields, removed: itself };
    return equal(before, after) ? same : { changed: itself, removed: noFields };
  }
  const changed: [string, FieldSet][] = [];
  const removed: [string, FieldSet][] = [];
  for (const step of new Set([...partsBefore.keys(), ...partsAfter.keys()])) {
    const [a, b] = [partsBefore.get(step), partsAfter.get(step)];
    const part = a ?? b;
    if (!part) continue;
    const result = compare(part.schema, a?.value, b?.value);
    changed.push([step, result.changed]);
    removed.push([step, result.removed]);
  }
  return {
    changed: fieldSet(before === undefined, changed),
    removed: fieldSet(after === undefined, removed),
  };
}

/** `value` with the fields of `config` on top. */
export function merge(schema: Schema, value: Json | undefined, config: Json): Json {
  const configParts = partsOf(schema, config);
  const valueParts = partsOf(schema, value);
  if (!configParts || !valueParts || value === undefined || value === null) return config;
  const merged = new Map<string, Json>([...valueParts].map(([step, part]) => [step, part.value]));
  for (const [step, part] of configParts) {
    merged.set(step, merge(part.schema, valueParts.get(step)?.value, part.value));
  }
  return assemble(schema, merged);
}

/**
 * `value` without the fields of `set`. A map or list in the set is removed only when nothing is
 * left in it.
 */
export function removeFields(schema: Schema, value: Json, set: FieldSet): Json {
  const parts = partsOf(schema, value);
  if (!parts) return value;
  const kept = new Map<string, Json>();
  for (const [step, part] of parts) {
    const below = set.children.get(step) ?? noFields;
    const left = removeFields(part.schema, part.value, below);
    const emptied = (partsOf(part.schema, left)?.size ?? 0) === 0;
    if (!below.member || !emptied) kept.set(step, left);
  }
  return assemble(schema, kept);
}

const assemble = (schema: Schema, parts: ReadonlyMap<string, Json>): Json =>
  schema.type === 'list'
    ? [...parts.values()]
    : objectOf([...parts].map(([step, value]) => [step.slice(2), value] as const));
