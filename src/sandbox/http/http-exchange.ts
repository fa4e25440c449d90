/** One request and its answer over node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dump } from 'js-yaml';
import { badRequest, internalError, StatusError, tooLarge } from '../objects/status.ts';
import type { WatchStream } from '../verbs/watch.ts';
import { type Accepted, negotiate } from './media-type.ts';

/** Maximum size (bytes) of a request body, as on a real server. */
const BODY_LIMIT = 3 * 1024 * 1024;

export class Exchange {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly userAgent: string;
  readonly #rawPath: string;
  #path: readonly string[] | undefined;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #warnings: string[] = [];

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
    this.method = request.method ?? 'GET';
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    this.#rawPath = mark === -1 ? url : url.slice(0, mark);
    this.query = new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1));
    this.userAgent = request.headers['user-agent'] ?? '';
  }

  /**
   * Decoded path segments: `/api/v1` is `['api', 'v1']`. Throws 400 for invalid percent-encoding.
   */
  get path(): readonly string[] {
    this.#path ??= segmentsOf(this.#rawPath);
    return this.#path;
  }

  get contentType(): string | undefined {
    return this.#request.headers['content-type'];
  }

  get accept(): string | undefined {
    return this.#request.headers.accept;
  }

  accepted(): Accepted {
    return negotiate(this.accept);
  }

  /** The whole body. Throws 413 beyond the limit. */
  async body(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of this.#request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > BODY_LIMIT) {
        this.#response.setHeader('Connection', 'close');
        throw tooLarge(`limit is ${BODY_LIMIT}`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  /** Adds a `Warning` header, which kubectl prints. */
  warn(warnings: readonly string[]): void {
    this.#warnings.push(...warnings);
  }

  /** Answers with JSON text, converted to YAML when the client asks for YAML. */
  answer(code: number, json: string): void {
    if (acceptsYaml(this.accept)) this.#end(code, 'application/yaml', dump(JSON.parse(json), YAML_FORM));
    else this.#answerJson(code, json);
  }

  #answerJson(code: number, json: string, contentType = 'application/json'): void {
    const text = this.#wantsIndented() ? JSON.stringify(JSON.parse(json), undefined, 2) : `${json}\n`;
    this.#end(code, contentType, text);
  }

  /** People with curl or a browser get indented JSON, unless `pretty` says otherwise. */
  #wantsIndented(): boolean {
    const pretty = this.query.get('pretty');
    if (pretty) return /^(1|t|T|true|True|TRUE)$/.test(pretty);
    return /^(curl|Wget|Mozilla\/5\.0)/.test(this.userAgent);
  }

  answerText(code: number, text: string): void {
    this.#end(code, 'text/plain; charset=utf-8', text);
  }

  /** Answers with JSON under another media type. */
  answerAs(contentType: string, json: string): void {
    this.#answerJson(200, json, contentType);
  }

  answerBytes(contentType: string, body: Buffer): void {
    this.#end(200, contentType, body);
  }

  /** Answers with the thrown Status. Closes the connection if the answer has already begun. */
  fail(error: unknown): void {
    if (this.#response.headersSent || this.#response.destroyed) {
      this.#response.destroy();
      return;
    }
    const { status } = error instanceof StatusError ? error : internalError(String(error));
    const retryAfter = status.details?.retryAfterSeconds;
    if (retryAfter !== undefined) this.#response.setHeader('Retry-After', String(retryAfter));
    this.#answerJson(status.code ?? 500, JSON.stringify(status));
  }

  /**
   * Begins a streamed answer. Its signal aborts after `timeoutMs`, when the client leaves or with
   * `stop`.
   */
  stream(timeoutMs: number, stop: AbortSignal): WatchStream {
    const response = this.#response;
    this.#writeHead(200, 'application/json');
    response.flushHeaders();
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), timeoutMs);
    const abort = () => over.abort();
    response.once('close', abort);
    stop.addEventListener('abort', abort, { once: true });
    over.signal.addEventListener('abort', () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', abort);
    });
    return { signal: over.signal, write: (text) => this.#write(text, over.signal) };
  }

  end(): void {
    this.#response.end();
  }

  async #write(text: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#response.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#response.removeListener('drain', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#response.once('drain', done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  #end(code: number, contentType: string, content: string | Buffer): void {
    const body = Buffer.from(content);
    this.#response.setHeader('Content-Length', body.length);
    this.#writeHead(code, contentType);
    this.#response.end(body);
  }

  #writeHead(code: number, contentType: string): void {
    for (const warning of this.#warnings) {
      this.#response.appendHeader('Warning', `299 - ${JSON.stringify(headerSafe(warning))}`);
    }
    this.#response.setHeader('Content-Type', contentType);
    this.#response.setHeader('Cache-Control', 'no-cache, private');
    this.#response.writeHead(code);
  }
}

/** As sigs.k8s.io/yaml writes it. */
const YAML_FORM = { sortKeys: true, lineWidth: -1, noRefs: true } as const;

/** Header values are Latin-1 without control characters. */
const headerSafe = (text: string): string => text.replace(/[^\x20-\x7e]/g, '?');

const acceptsYaml = (accept: string | undefined): boolean => {
  try {
    return accept !== undefined && negotiate(accept).format === 'yaml';
  } catch {
    return false;
  }
};

function segmentsOf(path: string): readonly string[] {
  try {
    return path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent);
  } catch {
    throw badRequest('the path of the request is not valid percent-encoding');
  }
}
