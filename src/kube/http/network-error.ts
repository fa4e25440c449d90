import { NetworkError } from '../errors.ts';

const NO_TLS = 'does not speak TLS: check whether the server should be http://';
/** What a failure of the API server's connection means, by code, as the end of a sentence. */
const SERVER_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection: check that the API server is running there',
  ENOTFOUND: 'cannot be resolved: check the host name of the server',
  EAI_AGAIN: 'cannot be resolved at the moment: check that the name server is reachable',
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
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  UND_ERR_ABORTED: 'was not reached through the proxy: check proxy-url',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'sent a truncated answer',
};

/** The same for a proxy. */
const PROXY_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection without an answer',
  ENOTFOUND: 'cannot be resolved',
  UND_ERR_CONNECT_TIMEOUT: 'did not answer',
  UND_ERR_HEADERS_TIMEOUT: 'did not answer',
  UND_ERR_SOCKET: 'closed the connection without an answer',
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
 * Any failure below HTTP as a `NetworkError` whose message is one clause about `server`
 * (`host:port`). The original is its cause. Its text is not used: it may quote the address of a
 * proxy or parts of a body.
 */
export function networkErrorOf(error: unknown, server: string): NetworkError {
  if (error instanceof NetworkError) return error;
  const code = codeOf(error);
  return new NetworkError(`${server} ${serverFailure(code)}`, { code, cause: error });
}

/** A proxy's failure to open a tunnel. It has a code of its own: it is not the API server's. */
export function proxyErrorOf(error: unknown, server: URL, proxy: URL): NetworkError {
  const message = `${hostOf(server)} was not reached through the proxy ${hostOf(proxy)}, which ${proxyFailure(codeOf(error))}: check proxy-url`;
  return new NetworkError(message, { code: 'PROXY', cause: error });
}

/** The TLS handshake failed, on either side: the server has not acted on the request. */
export function isTlsFailure(error: unknown): boolean {
  const code = codeOf(error);
  return isCertificateFailure(code) || code.startsWith('ERR_TLS_') || code.startsWith('ERR_SSL_');
}

/** The server's certificate was not accepted. */
export function isCertificateFailure(code: string): boolean {
  return UNTRUSTED_CODES.has(code) || code.startsWith('CERT_') || code === 'ERR_TLS_CERT_ALTNAME_INVALID';
}

/** `host:port`, without the user and the password that a URL may hold. */
export function hostOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

function serverFailure(code: string): string {
  const failure = SERVER_FAILURES[code];
  if (failure !== undefined) return failure;
  if (UNTRUSTED_CODES.has(code)) return UNTRUSTED;
  if (code.startsWith('HPE_')) return 'does not speak HTTP: check the server of the kubeconfig';
  if (code.startsWith('ERR_SSL_')) {
    const advice = /CERT|UNKNOWN_CA|HANDSHAKE_FAILURE/.test(code) ? ': check the client certificate' : '';
    return `refused the TLS handshake (${code})${advice}`;
  }
  return `gave no usable answer (${code})`;
}

function proxyFailure(code: string): string {
  if (code.startsWith('HPE_')) return 'does not speak HTTP';
  return PROXY_FAILURES[code] ?? `failed (${code})`;
}

/** The innermost code. undici and `AggregateError` (one error per address tried) wrap it. */
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
