import type { Kind } from '../kinds/kinds.ts';
import { quoted } from '../objects/json.ts';
import { badRequest } from '../objects/status.ts';
import type { Exchange } from './http-exchange.ts';
import type { Form, IncludeObject } from './render.ts';

/**
 * The form in which the client wants objects of `kind`. Throws 406 or 400 for an unsupported one.
 */
export function formOf(exchange: Exchange, kind: Kind): Form {
  const { view } = exchange.accepted();
  return { kind, view, includeObject: view === 'table' ? includeObjectOf(exchange.query) : 'Metadata' };
}

function includeObjectOf(query: URLSearchParams): IncludeObject {
  const given = query.get('includeObject') ?? '';
  if (given === '') return 'Metadata';
  const known: readonly IncludeObject[] = ['None', 'Metadata', 'Object'];
  const include = known.find((one) => one === given);
  if (include) return include;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${quoted(given)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
