/** Dispatches a request to the part of the server that answers it. */

import { reviewAt } from '../discovery/access-reviews.ts';
import { discover, versionInfo } from '../discovery/discovery.ts';
import { OPENAPI_PROTOBUF, openApiAt, openApiV2Protobuf } from '../discovery/openapi.ts';
import { groups } from '../discovery/served-resources.ts';
import { methodNotAllowed, StatusError, unknownPath } from '../objects/status.ts';
import { timeOf } from '../schema/scalars.ts';
import type { Verb } from '../verbs/resource-path.ts';
import type { Exchange } from './http-exchange.ts';
import { aggregatedDiscovery } from './media-type.ts';
import { parseBody } from './request-body.ts';
import type { RequestCounts } from './request-counts.ts';
import { resourceOf, verbOf } from './request-info.ts';
import type { ResourceHandlers } from './resource-handlers.ts';

/** A failure that the server simulates. */
export interface Outage {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

/** Start of the User-Agent of the clients whose writes an outage refuses. */
const OUTAGE_CLIENT = 'mirror-controller';

export interface RouterDeps {
  readonly handlers: ResourceHandlers;
  readonly counts: RequestCounts;
  readonly now: () => Date;
  /** The server's host:port. */
  readonly host: () => string;
  readonly outage: () => Outage | undefined;
}

const HEALTH = new Set(['healthz', 'livez', 'readyz']);
const READS: ReadonlySet<Verb> = new Set(['get', 'list', 'watch']);

export async function route(exchange: Exchange, deps: RouterDeps): Promise<void> {
  const target = resourceOf(exchange.path);
  if (target) {
    const verb = verbOf(exchange.method, target, exchange.query);
    if (!verb) throw methodNotAllowed();
    deps.counts.add(verb, target.kind.resource);
    refuseDuringOutage(exchange, verb, deps.outage());
    return deps.handlers.handle(exchange, target, verb);
  }
  const review = reviewAt(exchange.path);
  if (review) {
    if (exchange.method !== 'POST') throw methodNotAllowed();
    const body = parseBody(review.schema, await exchange.body(), exchange.contentType);
    exchange.answer(201, JSON.stringify(review.answer(body, timeOf(deps.now()))));
  } else if (exchange.method === 'GET' || exchange.method === 'HEAD') {
    answerInformation(exchange, deps);
  } else {
    notFound(exchange);
  }
}

function refuseDuringOutage(exchange: Exchange, verb: Verb, outage: Outage | undefined): void {
  if (!outage || READS.has(verb) || !exchange.userAgent.startsWith(OUTAGE_CLIENT)) return;
  throw new StatusError(outage.code, outage.reason, outage.message);
}

function answerInformation(exchange: Exchange, deps: RouterDeps): void {
  const { path } = exchange;
  const [first] = path;
  const health = first !== undefined && HEALTH.has(first);
  const discovered = discover(path, aggregatedDiscovery(exchange.accept), deps.host());
  const document = openApiAt(path) ?? documentAt(path);
  const asksProtobuf = path.join('/') === 'openapi/v2' && exchange.accept?.includes('protobuf');
  if (health) exchange.answerText(200, 'ok');
  else if (discovered) exchange.answerAs(discovered.contentType, JSON.stringify(discovered.body));
  else if (asksProtobuf) exchange.answerBytes(OPENAPI_PROTOBUF, openApiV2Protobuf);
  else if (document) exchange.answer(200, document);
  else notFound(exchange);
}

function documentAt(path: readonly string[]): string | undefined {
  if (path.length === 0) return JSON.stringify({ paths: ['/api', '/apis', '/openapi/v3', '/version'] });
  return path.length === 1 && path[0] === 'version' ? JSON.stringify(versionInfo) : undefined;
}

/** Below a served API version a 404 is a Status, elsewhere it is plain text. */
function notFound(exchange: Exchange): void {
  const [root, group, version] = exchange.path;
  const known =
    root === 'api'
      ? group !== undefined
      : root === 'apis' && version === 'v1' && groups.includes(group ?? '');
  if (known) throw unknownPath();
  exchange.answerText(404, '404 page not found\n');
}
