import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { addressProblem, type Sink } from './config.ts';
import { parseSigningKey } from './signature.ts';

/** What the mounted files of a sink hold at the moment. */
export interface SinkFiles {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signingKeys: readonly Buffer[];
  /** PEM; undefined: the usual authorities. */
  readonly ca: string | undefined;
}

/** Files cannot be used. The message names each and says what to do; it never quotes them. */
export class SinkFileError extends Error {
  override readonly name = 'SinkFileError';
}

/** https://www.rfc-editor.org/rfc/rfc9110#name-tokens */
const HEADER = /^([-!#$%&'*+.^_`|~0-9A-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;
/** What we or the connection say ourselves. */
const RESERVED = [
  ...['host', 'connection', 'content-length', 'content-type', 'expect', 'keep-alive', 'transfer-encoding'],
  'upgrade',
];

/**
 * Reads the files of a sink. For each attempt anew, because a Secret that is mounted may change.
 * @throws SinkFileError
 */
export async function readSinkFiles(sink: Sink): Promise<SinkFiles> {
  const { url: address, headersFile, signingKeyFiles, caFile, allowHttp } = sink;
  const [url, headers, signingKeys, ca] = await all([
    typeof address === 'string' ? address : readAddress(address.file, allowHttp),
    headersFile === undefined ? {} : readHeaders(headersFile),
    all(signingKeyFiles.map(readKey)),
    caFile === undefined ? undefined : readCertificates(caFile),
  ]);
  return { url, headers, signingKeys, ca };
}

/** Like `Promise.all`, but says what is wrong with each file. */
async function all<T extends readonly unknown[]>(reads: T) {
  const settled = await Promise.allSettled(reads);
  const errors = settled.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []));
  if (errors.length > 1 && errors.every((error) => error instanceof SinkFileError)) {
    throw new SinkFileError(errors.map(({ message }) => message).join('; '));
  }
  return Promise.all(reads);
}

async function readAddress(path: string, allowHttp: boolean): Promise<string> {
  const url = (await read(path)).trim();
  const problem = addressProblem(url, allowHttp);
  if (problem !== undefined) throw new SinkFileError(`the address in ${path}: ${problem}`);
  return url;
}

async function readHeaders(path: string): Promise<Readonly<Record<string, string>>> {
  const headers: Record<string, string> = {};
  const text = await read(path);
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const [, name = '', value = ''] = HEADER.exec(line) ?? [];
    if (name === '') throw new SinkFileError(`${path}: line ${at + 1} is not a header; write "Name: value"`);
    if (RESERVED.includes(name.toLowerCase()) || /^webhook-/i.test(name)) {
      throw new SinkFileError(`${path}: the header ${name} is reserved; remove it`);
    }
    headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}

async function readKey(path: string): Promise<Buffer> {
  const key = parseSigningKey(await read(path));
  if (key !== undefined) return key;
  throw new SinkFileError(`${path} is not a signing key; write whsec_ and the base64 of 24 to 64 bytes`);
}

/** Node ignores what is not a certificate, and would then trust nobody. */
async function readCertificates(path: string): Promise<string> {
  const text = await read(path);
  try {
    new X509Certificate(text);
    return text;
  } catch {
    throw new SinkFileError(`${path} holds no certificate; write PEM ("-----BEGIN CERTIFICATE-----")`);
  }
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new SinkFileError(
      code === 'ENOENT' ? `${path} does not exist` : `${path} cannot be read (${code})`,
    );
  }
}
