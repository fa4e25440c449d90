/** The query of a write, parsed and checked (k8s.io/apimachinery pkg/apis/meta/v1/validation). */
import {
  type FieldError,
  forbiddenField,
  invalidObject,
  notSupported,
  required,
  tooLong,
} from '../kinds/field-errors.ts';
import { booleanOf } from './list-options.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly dryRun: boolean;
  /** The name in managedFields. */
  readonly fieldManager: string;
  /** What happens to unknown fields. */
  readonly fieldValidation: FieldValidation;
  /** Whether an apply takes fields from other managers. */
  readonly force: boolean;
}

const FIELD_MANAGER_LIMIT = 128;

/** `kind` is the options object in errors. */
export function parseWriteOptions(
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  query: URLSearchParams,
  userAgent: string,
  isApply: boolean,
): WriteOptions {
  const fieldManager = query.get('fieldManager') ?? '';
  const fieldValidation = query.get('fieldValidation') ?? '';
  const force = booleanOf(query.get('force'));
  const errors: FieldError[] = [
    ...(isApply && fieldManager === '' ? [required('fieldManager', 'is required for apply patch')] : []),
    ...(kind === 'PatchOptions' && !isApply && force !== undefined
      ? [forbiddenField('force', 'may not be specified for non-apply patch')]
      : []),
    ...(Buffer.byteLength(fieldManager) > FIELD_MANAGER_LIMIT
      ? [tooLong('fieldManager', FIELD_MANAGER_LIMIT)]
      : []),
    ...dryRunErrors(query),
    ...(isFieldValidation(fieldValidation)
      ? []
      : [notSupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn'])]),
  ];
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', name: kind }, '', errors);
  return {
    dryRun: query.has('dryRun'),
    fieldManager: fieldManager || managerFromUserAgent(userAgent),
    fieldValidation: isFieldValidation(fieldValidation) && fieldValidation !== '' ? fieldValidation : 'Warn',
    force: force ?? false,
  };
}

export function dryRunErrors(query: URLSearchParams): FieldError[] {
  const values = query.getAll('dryRun');
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])];
}

const isFieldValidation = (value: string): value is FieldValidation | '' =>
  ['', 'Ignore', 'Warn', 'Strict'].includes(value);

/** As the real server: the User-Agent up to its first slash. */
function managerFromUserAgent(userAgent: string): string {
  return (userAgent.split('/')[0] ?? '').slice(0, FIELD_MANAGER_LIMIT) || 'unknown';
}
