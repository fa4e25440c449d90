import { NetworkError } from '../errors.ts';

/** What each code means to a person, as the end of a sentence about `host:port`. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection: is the API server running there?',
  ENOTFOUND: 'cannot be resolved: check the host name of the server',
  EAI_AGAIN: 'cannot be resolved at the moment: is the name server reachable?',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  UND_ERR_SOCKET: 'closed the connection',
  ETIMEDOUT: 'cannot be reached: the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'cannot be reached: the connection timed out',
  EHOSTUNREACH: 'cannot be reached: there is no route to it',
  ENETUNREACH: 'cannot be reached: there is no route to it',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  CERT_NOT_YET_VALID: 'has a certificate that is not valid yet: compare the clocks',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name: check server or tls-server-name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'does not speak TLS: should the server be http:// ?',
  UND_ERR_ABORTED: 'was not reached through the proxy: check proxy-url',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'sent a truncated answer',
};

const UNTRUSTED = 'has a certificate that the certificate authority of the kubeconfig did not sign';
const UNTRUSTED_CODES = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
]);

/**
 * Any failure below HTTP as a `NetworkError` whose message is one clause that names `server` (`host:port`). The
 * original is kept as the cause; its text is not used, for it may quote addresses of a proxy or parts of a body.
 */
export function networkErrorOf(error: unknown, server: string): NetworkError {
  if (error instanceof NetworkError) return error;
  const code = codeOf(error);
  return new NetworkError(`${server} ${meaningOf(code)}`, { code, cause: error });
}

/** The TLS handshake failed, on our side or the server's: the request was never acted upon. */
export function isTlsFailure(error: unknown): boolean {
  const code = codeOf(error);
  return (
    UNTRUSTED_CODES.has(code) ||
    code.startsWith('CERT_') ||
    code.startsWith('ERR_TLS_') ||
    code.startsWith('ERR_SSL_')
  );
}

function meaningOf(code: string): string {
  const meaning = MEANINGS[code];
  if (meaning !== undefined) return meaning;
  if (UNTRUSTED_CODES.has(code)) return UNTRUSTED;
  if (code.startsWith('HPE_')) return 'does not speak HTTP: check the server of the kubeconfig';
  if (code.startsWith('ERR_SSL_')) return `refused the TLS handshake (${code}): check the client certificate`;
  return `gave no usable answer (${code})`;
}

/** The innermost code: undici and `AggregateError` (one error for each address tried) wrap the telling one. */
export function codeOf(error: unknown): string {
  for (let current: unknown = error, depth = 0; depth < 5 && current instanceof Error; depth++) {
    const { code, cause } = current as Error & { code?: unknown };
    if (typeof code === 'string' && code !== '') return code;
    // undici 7.30 leaves the code of the parser's error undefined.
    if (current.name === 'HTTPParserError') return 'HPE_INVALID';
    current = current instanceof AggregateError ? current.errors[0] : cause;
  }
  return 'UNKNOWN';
}

/** `host:port`, without the user and the password that a URL may hold. */
export function hostOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}
