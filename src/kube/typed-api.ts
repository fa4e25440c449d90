import {
  type Configuration,
  createConfiguration,
  type HttpInfo,
  type RequestContext,
  type ResponseBody,
  ResponseContext,
  ServerConfiguration,
  wrapHttpLibrary,
} from '@kubernetes/client-node';
import type { ApiReply } from './reply.ts';
import type { ApiRequest, Transport } from './transport.ts';

/** The generated code wants an absolute URL to build upon; the transport knows the real one. */
const PLACEHOLDER = 'http://transport.invalid';

/** What to send in place of what the generated code would; absent: its own. */
export interface WireOverrides {
  readonly body?: string;
  readonly accept?: string;
  /** The caller takes the answer from {@link wireText}; the generated code sees an empty object. */
  readonly wireReply?: true;
}

/**
 * Lets the client library's typed APIs (`CoreV1Api`, `CoordinationV1Api`, …) speak through our transport instead of
 * the `fetch` that opens a TLS connection for each call. They reject with our `ApiError` and `NetworkError`, never with
 * the library's `ApiException`, whose message quotes body and headers.
 *
 * To be given to an API's constructor, or to one call as its options.
 */
export function typedApiConfiguration(transport: Transport, overrides: WireOverrides = {}): Configuration {
  return createConfiguration({
    baseServer: new ServerConfiguration(PLACEHOLDER, {}),
    httpApi: wrapHttpLibrary({
      send: async (context) => responseOf(await transport.call(requestOf(context, overrides)), overrides),
    }),
  });
}

function requestOf(context: RequestContext, overrides: WireOverrides): ApiRequest {
  const { pathname, search } = new URL(context.getUrl());
  const method = context.getHttpMethod();
  const body = overrides.body ?? context.getBody();
  if (method === 'CONNECT' || method === 'TRACE') throw new TypeError(`no API call is a ${method}`);
  if (body !== undefined && typeof body !== 'string') throw new TypeError('an API call has a JSON body');
  const own = Object.entries(context.getHeaders()).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    method,
    path: pathname + search,
    headers: {
      ...(Object.fromEntries(own) as Record<string, string>),
      ...(overrides.accept !== undefined && { accept: overrides.accept }),
    },
    ...(body !== undefined && { body }),
    signal: context.getSignal(),
  };
}

/**
 * An answer for two readers: who wants the JSON as it came takes `wire`. The generated code parses and converts what `text`
 * gives, which is a good part of the cost of a write; where nobody looks at its model, it gets an empty object.
 */
interface WireBody extends ResponseBody {
  readonly wire: string;
}

function responseOf(reply: ApiReply, { wireReply }: WireOverrides): ResponseContext {
  const text = wireReply ? '{}' : reply.body;
  const body: WireBody = {
    wire: reply.body,
    text: async () => text,
    binary: async () => Buffer.from(text),
    stream: () => null,
  };
  return new ResponseContext(reply.status, { ...reply.headers }, body);
}

/** The JSON of an answer as it came, of a call made with a {@link typedApiConfiguration}. */
export function wireText({ body }: HttpInfo<unknown>): string {
  if (!('wire' in body)) throw new TypeError('the answer did not come by our transport');
  return (body as WireBody).wire;
}
