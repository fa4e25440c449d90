import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { KubeConfigError } from '../errors.ts';
import type { Cluster, TextSource } from './cluster.ts';

/** Finds what cannot work before anything is started. Throws `KubeConfigError`. */
export function checkCluster(cluster: Cluster): void {
  checkUrl(cluster.server, 'server', ['http:', 'https:']);
  if (cluster.proxyUrl !== undefined) checkUrl(cluster.proxyUrl, 'proxy-url', ['http:', 'https:']);
  const { tls, user } = cluster;
  if (tls?.ca) checkAuthority(read(tls.ca, 'the certificate authority of the cluster'));
  if (user?.token) read(user.token, `the token of user "${user.name}"`);
  if (user?.clientCertificate) {
    const cert = read(user.clientCertificate.cert, `the client certificate of user "${user.name}"`);
    const key = read(user.clientCertificate.key, `the client key of user "${user.name}"`);
    checkPair(cert, key, user.name);
  }
}

/** A proxy's URL may hold a password, so no message quotes what does not parse. */
function checkUrl(text: string, field: string, protocols: readonly string[]): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') {
    throw new KubeConfigError(
      `the ${field} of the kubeconfig's cluster is not a URL: write ${protocols[1]}//host:port`,
    );
  }
  if (!protocols.includes(url.protocol)) {
    const allowed = protocols.map((protocol) => `${protocol}//`).join(' and ');
    throw new KubeConfigError(
      `the ${field} of the kubeconfig's cluster begins with ${url.protocol}//, but only ${allowed} work here`,
    );
  }
}

function read(source: TextSource, what: string): string {
  if (source.kind === 'inline') return source.text;
  try {
    const text = readFileSync(source.path, 'utf8');
    if (text.trim() !== '') return text;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new KubeConfigError(`${what} should be in ${source.path}, which ${reason}`);
  }
  throw new KubeConfigError(`${what} should be in ${source.path}, which is empty`);
}

function checkAuthority(pem: string): void {
  try {
    new X509Certificate(pem);
  } catch {
    throw new KubeConfigError('the certificate authority of the cluster is not a PEM certificate');
  }
}

function checkPair(cert: string, key: string, user: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code?.includes('MISMATCH') ? 'do not belong together' : 'are not usable PEM';
    throw new KubeConfigError(`client certificate and key of user "${user}" ${reason}`);
  }
}
