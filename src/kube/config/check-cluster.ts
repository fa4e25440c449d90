import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { KubeConfigError } from '../errors.ts';
import type { Cluster, TextSource } from './cluster.ts';

/** Finds what cannot work before anything starts. Throws `KubeConfigError`. */
export function checkCluster(cluster: Cluster): void {
  checkUrl(cluster.server, 'server');
  if (cluster.proxyUrl !== undefined) checkUrl(cluster.proxyUrl, 'proxy-url');
  const { tls, user } = cluster;
  if (tls?.ca) checkAuthority(readText(tls.ca, 'the certificate authority of the cluster'));
  if (user?.token) checkToken(readText(user.token, `the token of user "${user.name}"`), user.name);
  if (user?.clientCertificate) {
    const cert = readText(user.clientCertificate.cert, `the client certificate of user "${user.name}"`);
    const key = readText(user.clientCertificate.key, `the client key of user "${user.name}"`);
    checkPair(cert, key, user.name);
  }
}

/** A proxy's URL may hold a password, so no message quotes a URL that does not parse. */
function checkUrl(text: string, field: 'server' | 'proxy-url'): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === '') {
    throw new KubeConfigError(
      `the ${field} of the kubeconfig's cluster is not a valid URL: write https://host:port`,
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new KubeConfigError(
      `the ${field} of the kubeconfig's cluster begins with ${url.protocol}//: use http:// or https://`,
    );
  }
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    throw new KubeConfigError(
      `the ${field} of the kubeconfig's cluster has a user or password with a bare %: write it as %25`,
    );
  }
}

/** What a header cannot hold, such as the lines of another file. */
function checkToken(token: string, user: string): void {
  if (/^[\x21-\x7e]+$/.test(token.trim())) return;
  throw new KubeConfigError(
    `the token of user "${user}" holds a space, a line break or another character that no token has: check token and tokenFile`,
  );
}

/** What it says or the file holds. Throws `KubeConfigError` if that is empty or cannot be read. */
export function readText(source: TextSource, what: string): string {
  if (source.kind === 'inline') return source.text;
  try {
    const text = readFileSync(source.path, 'utf8');
    if (text.trim() !== '') return text;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new KubeConfigError(`${source.path} ${problem}: it should hold ${what}`);
  }
  throw new KubeConfigError(`${source.path} is empty: it should hold ${what}`);
}

function checkAuthority(pem: string): void {
  try {
    new X509Certificate(pem);
  } catch {
    throw new KubeConfigError(
      'the certificate authority of the cluster is not a PEM certificate: check certificate-authority or certificate-authority-data',
    );
  }
}

function checkPair(cert: string, key: string, user: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = code?.includes('MISMATCH') ? 'do not belong together' : 'are not valid PEM';
    throw new KubeConfigError(
      `the client certificate and the client key of user "${user}" ${problem}: check client-certificate and client-key`,
    );
  }
}
