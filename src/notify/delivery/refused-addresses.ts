import type { LookupAddress, LookupOptions } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Resolves a host name, as `dns.lookup` does if asked for all addresses. */
export type ResolveHost = (hostname: string, options: LookupOptions) => Promise<readonly LookupAddress[]>;

/** An address that no notification is sent to. */
class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  readonly code = 'ERR_REFUSED_ADDRESS';
}

/**
 * Link-local addresses, and others at which cloud providers serve credentials to anybody on the
 * machine. `BlockList` applies the IPv4 rules to IPv4-mapped IPv6 addresses, too.
 */
const REFUSED = new BlockList();
REFUSED.addSubnet('169.254.0.0', 16, 'ipv4');
REFUSED.addSubnet('0.0.0.0', 8, 'ipv4');
REFUSED.addSubnet('fe80::', 10, 'ipv6');
REFUSED.addAddress('::', 'ipv6');
// NAT64 and 6to4 forms of 169.254.0.0/16.
REFUSED.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
REFUSED.addSubnet('2002:a9fe::', 32, 'ipv6');
// Alibaba Cloud, Azure, Oracle Cloud, AWS, Google Cloud.
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) {
  REFUSED.addAddress(address, 'ipv4');
}
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) REFUSED.addAddress(address, 'ipv6');

/** Throws if `host`, as in a URL, is an address that is refused. */
export function checkHost(host: string): void {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0) check(address);
}

/**
 * For connections: refuses a name by what it resolves to at this moment, so that nobody can change
 * the answer between a check and its use. One refused address among several is enough.
 */
export function guardedLookup(resolve: ResolveHost): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true })
      .then((addresses) => {
        for (const { address } of addresses) check(address);
        const [first] = addresses;
        if (first === undefined) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
        if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      })
      .catch((error) => callback(error, '', 0));
  };
}

function check(address: string): void {
  if (!REFUSED.check(address.replace(/%.*$/, ''), isIP(address.replace(/%.*$/, '')) === 6 ? 'ipv6' : 'ipv4'))
    return;
  throw new RefusedAddressError('it is a link-local or metadata address');
}
