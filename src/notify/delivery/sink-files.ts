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

/** A file cannot be used. The message names it and says what to do; it never quotes it. */
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
  const { url, headersFile, signingKeyFiles, caFile, allowHttp } = sink;
  return {
    url: typeof url === 'string' ? url : await readAddress(url.file, allowHttp),
    headers: headersFile === undefined ? {} : headersIn(headersFile, await read(headersFile)),
    signingKeys: await Promise.all(signingKeyFiles.map(readKey)),
    ca: caFile === undefined ? undefined : await readCertificates(caFile),
  };
}

async function readAddress(path: string, allowHttp: boolean): Promise<string> {
  const url = (await read(path)).trim();
  const problem = addressProblem(url, allowHttp);
  if (problem !== undefined) throw new SinkFileError(`the address in ${path}: ${problem}`);
  return url;
}

function headersIn(path: string, text: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
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
