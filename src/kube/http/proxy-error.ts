import { NetworkError } from '../errors.ts';
import { codeOf, hostOf } from './network-error.ts';

/** What each code means to a person, as the end of a sentence about the proxy. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection without an answer',
  ENOTFOUND: 'cannot be resolved',
  UND_ERR_CONNECT_TIMEOUT: 'gave no answer',
  UND_ERR_HEADERS_TIMEOUT: 'gave no answer',
  UND_ERR_SOCKET: 'closed the connection without an answer',
};

/** A proxy's failure to open a tunnel, as a `NetworkError` with a code of its own: it is not the API server's. */
export function proxyErrorOf(cause: unknown, server: URL, proxy: URL): NetworkError {
  const [to, through] = [hostOf(server), hostOf(proxy)];
  const message = `${to} was not reached through the proxy ${through}, which ${meaningOf(cause)}: check proxy-url`;
  return new NetworkError(message, { code: 'PROXY', cause });
}

function meaningOf(cause: unknown): string {
  const code = codeOf(cause);
  if (code.startsWith('HPE_')) return 'does not speak HTTP';
  return MEANINGS[code] ?? `failed (${code})`;
}
