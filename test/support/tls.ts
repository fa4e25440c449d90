import { generate } from 'selfsigned';

/** PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateAuthority extends KeyPair {
  /** A server's certificate for `localhost`, `127.0.0.1`, `::1` and further DNS names. */
  server(options?: { readonly dnsNames?: readonly string[]; readonly expired?: boolean }): Promise<KeyPair>;
  /**
   * A client's certificate: Kubernetes reads the user from `commonName` and a group from
   * `organization`.
   */
  client(commonName: string, options?: { readonly organization?: string }): Promise<KeyPair>;
}

const HOUR_MS = 60 * 60 * 1000;
const COMMON = { keyType: 'ec', algorithm: 'sha256' } as const;

/** A certificate authority of its own, good for a day. */
export async function createAuthority(commonName = 'test authority'): Promise<CertificateAuthority> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: commonName }], {
    ...COMMON,
    ...validFrom(Date.now() - HOUR_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  const issue = async (
    attributes: Parameters<typeof generate>[0],
    options: Parameters<typeof generate>[1],
  ): Promise<KeyPair> => {
    const issued = await generate(attributes, { ...COMMON, ca: { cert, key }, ...options });
    return { cert: issued.cert, key: issued.private };
  };
  return {
    cert,
    key,
    server: ({ dnsNames = [], expired = false } = {}) =>
      issue([{ name: 'commonName', value: 'localhost' }], {
        ...validFrom(Date.now() - (expired ? 48 : 1) * HOUR_MS),
        extensions: [
          { name: 'keyUsage', digitalSignature: true, keyEncipherment: true },
          { name: 'extKeyUsage', serverAuth: true },
          {
            name: 'subjectAltName',
            altNames: [
              ...['localhost', ...dnsNames].map((value) => ({ type: 2 as const, value })),
              { type: 7, ip: '127.0.0.1' },
              { type: 7, ip: '::1' },
            ],
          },
        ],
      }),
    client: (name, { organization } = {}) =>
      issue(
        [
          { name: 'commonName', value: name },
          ...(organization === undefined ? [] : [{ name: 'organizationName', value: organization }]),
        ],
        {
          ...validFrom(Date.now() - HOUR_MS),
          extensions: [
            { name: 'keyUsage', digitalSignature: true },
            { name: 'extKeyUsage', clientAuth: true },
          ],
        },
      ),
  };
}

/** For a day: backdated by the caller, so that clocks that differ a little agree on it. */
function validFrom(start: number): { notBeforeDate: Date; notAfterDate: Date } {
  return { notBeforeDate: new Date(start), notAfterDate: new Date(start + 24 * HOUR_MS) };
}
