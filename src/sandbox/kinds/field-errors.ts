/**
 * Validation errors of single fields, and the 422 that collects them (k8s.io/apimachinery
 * pkg/util/validation/field).
 */
import { type Json, quoted } from '../objects/json.ts';
import { type GroupName, qualified, StatusError } from '../objects/status.ts';

export interface FieldError {
  readonly reason:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueNotSupported';
  readonly field: string;
  readonly body: string;
}

const withDetail = (text: string, detail: string): string => (detail === '' ? text : `${text}: ${detail}`);

export const required = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueRequired',
  field,
  body: withDetail('Required value', detail),
});

/** Shows a string `value` as Go's `%q`, any other as JSON. */
export const invalid = (field: string, value: Json, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  body: withDetail(
    `Invalid value: ${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`,
    detail,
  ),
});

export const forbiddenField = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  body: withDetail('Forbidden', detail),
});

/** A field that holds more than `limit` bytes. */
export const tooLong = (field: string, limit: number): FieldError => ({
  reason: 'FieldValueTooLong',
  field,
  body: `Too long: may not be more than ${limit} bytes`,
});

export const notSupported = (field: string, value: Json, supported: readonly string[]): FieldError => ({
  reason: 'FieldValueNotSupported',
  field,
  body: `Unsupported value: ${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}: supported values: ${supported.map(quoted).join(', ')}`,
});

/** A 422 with one cause for each error. Its message has each text once, as on the real server. */
export function invalidObject(kind: GroupName, name: string, errors: readonly FieldError[]): StatusError {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${error.body}`))];
  const summary = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new StatusError(422, 'Invalid', `${qualified(kind)} ${quoted(name)} is invalid: ${summary}`, {
    ...(name === '' ? {} : { name }),
    ...(kind.group === '' ? {} : { group: kind.group }),
    ...(kind.name === '' ? {} : { kind: kind.name }),
    causes: errors.map(({ reason, field, body }) => ({ reason, message: body, field })),
  });
}
