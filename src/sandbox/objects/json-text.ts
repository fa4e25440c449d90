/** From text to JSON, with the messages of Go's parsers as far as they follow from JavaScript's. */
import { load } from 'js-yaml';
import type { Json } from './json.ts';

/** Thrown for a text that is not in the expected form. */
export class ParseError extends Error {
  override readonly name = 'ParseError';
}

export function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const token = /^Unexpected token '(.)'/su.exec((error as Error).message)?.[1];
    throw new ParseError(
      token === undefined
        ? 'unexpected end of JSON input'
        : `invalid character '${token}' looking for beginning of value`,
    );
  }
}

export function parseYaml(text: string): Json {
  try {
    return (load(text) ?? null) as Json;
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    throw new ParseError(`error converting YAML to JSON: ${asGoYaml(reason)}`);
  }
}

/** Go's words for the most common mistake, our parser's for all others. */
function asGoYaml(reason: string): string {
  const unfinished = /^unexpected end of the stream within a flow collection \((\d+)/.exec(reason);
  return unfinished ? `yaml: line ${unfinished[1]}: did not find expected node content` : reason;
}
