import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CertificateAuthority, createAuthority } from './tls.ts';

/** What the servers read from their folder, and who may do everything. */
export interface ControlPlaneFiles {
  readonly authority: CertificateAuthority;
  readonly adminToken: string;
  readonly kubeconfigPath: string;
  readonly auditLogPath: string;
  /** Absolute path of a file in the folder. */
  path(name: string): string;
}

/** Every call once, when it is answered; a watch also when it begins. No bodies. */
const AUDIT_POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

/**
 * Writes keys, certificates, the token file, the audit policy and an administrator's kubeconfig for
 * `url`.
 */
export async function writeControlPlaneFiles(folder: string, url: string): Promise<ControlPlaneFiles> {
  const path = (name: string) => join(folder, name);
  const write = (name: string, content: string) => writeFileSync(path(name), content, { mode: 0o600 });
  const authority = await createAuthority('control plane');
  const serving = await authority.server();
  const adminToken = randomBytes(16).toString('hex');
  // Service account tokens are signed with RSA or ECDSA; what selfsigned makes is for certificates
  // only.
  const signing = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  write('ca.crt', authority.cert);
  write('serving.crt', serving.cert);
  write('serving.key', serving.key);
  write('service-account.key', signing.privateKey.export({ type: 'sec1', format: 'pem' }).toString());
  write('service-account.pub', signing.publicKey.export({ type: 'spki', format: 'pem' }).toString());
  write('tokens.csv', `${adminToken},admin,admin,"system:masters"\n`);
  write('audit-policy.json', JSON.stringify(AUDIT_POLICY));
  write('kubeconfig', kubeconfigText({ url, ca: authority.cert, token: adminToken }));
  return {
    authority,
    adminToken,
    kubeconfigPath: path('kubeconfig'),
    auditLogPath: path('audit.log'),
    path,
  };
}

/** A kubeconfig with one context, as JSON (which is YAML). */
export function kubeconfigText(access: {
  readonly url: string;
  readonly ca?: string;
  readonly token?: string;
}): string {
  const { url, ca, token } = access;
  const cluster = {
    server: url,
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
  };
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user: token === undefined ? {} : { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  return `${JSON.stringify(kubeconfig, undefined, 2)}\n`;
}
