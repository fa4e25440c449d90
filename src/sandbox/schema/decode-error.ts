/** The decoder's errors. */
import { goText, isList, type Json } from '../objects/json.ts';
import { goTypeOf, type Schema } from './schema.ts';

/** A value of the wrong type, in the words of each of the real server's three decoders. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  /** In the words of the decoder of strategic merge patches. */
  readonly conversion: string;
  /** In the words of the parser of applied configurations, beginning with the path. */
  readonly typed: string;

  /** `message` is in the words of the JSON decoder. */
  constructor(message: string, words: { readonly conversion: string; readonly typed: string }) {
    super(message);
    this.conversion = words.conversion;
    this.typed = words.typed;
  }
}

/** Where the decoder is: `path` as strict errors print it, `goPath` as Go's unmarshaller does. */
export interface Place {
  readonly path: string;
  readonly goPath: readonly string[];
  readonly structName: string;
  readonly strictErrors: string[];
}

export function wrongType(value: Json, schema: Schema, place: Place): DecodeError {
  return unmarshalError(goWord(value), value, schema, place);
}

export function unmarshalError(got: string, value: Json, schema: Schema, place: Place): DecodeError {
  const into =
    place.goPath.length === 0 ? 'Go value' : `Go struct field ${place.structName}.${place.goPath.join('.')}`;
  return new DecodeError(`json: cannot unmarshal ${got} into ${into} of type ${goTypeOf(schema)}`, {
    conversion: conversionError(value, schema),
    typed: `.${place.path}: expected ${schema.type}, got &value.valueUnstructured{Value:${goText(value)}}`,
  });
}

function conversionError(value: Json, schema: Schema): string {
  const got = typeof value === 'number' ? 'int64' : goWord(value);
  const composite = { map: 'map', struct: 'struct', list: 'slice' } as const;
  if (schema.type === 'map' || schema.type === 'struct' || schema.type === 'list') {
    return `cannot restore ${composite[schema.type]} from ${got}`;
  }
  // Go can convert a number to a string, but not in this decoder; it has no words for other pairs.
  const toText = got === 'int64' && schema.type === 'string';
  return toText
    ? `cannot convert int64 to ${goTypeOf(schema)}`
    : `unrecognized type: ${schema.goType ?? schema.type}`;
}

const goWord = (value: Json): string => {
  if (isList(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};
