import { BlockList, isIP, type LookupFunction } from 'node:net';
import type { ResolveHost } from './resolve-host.ts';

/**
 * Link-local addresses, and others at which cloud providers serve credentials to anybody on the
 * machine: Alibaba Cloud, Azure, Oracle Cloud.
 */
const REFUSED_IPV4 = [
  { address: '169.254.0.0', bits: 16 },
  ...['100.100.100.200', '168.63.129.16', '192.0.0.192'].map((address) => ({ address, bits: 32 })),
];
/** AWS, AWS for Pods, Google Cloud, Scaleway. */
const REFUSED_IPV6 = ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42', '::'];
/** Of IPv6 addresses that stand for an IPv4 address: compatible, translated, NAT64. */
const EMBEDDING = ['::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'];

/** `BlockList` applies the IPv4 rules to IPv4-mapped IPv6 addresses, too. */
const REFUSED = new BlockList();
REFUSED.addSubnet('0.0.0.0', 8, 'ipv4');
REFUSED.addSubnet('fe80::', 10, 'ipv6');
for (const address of REFUSED_IPV6) REFUSED.addAddress(address, 'ipv6');
for (const { address, bits } of REFUSED_IPV4) {
  REFUSED.addSubnet(address, bits, 'ipv4');
  for (const prefix of EMBEDDING) REFUSED.addSubnet(`${prefix}${address}`, 96 + bits, 'ipv6');
  REFUSED.addSubnet(sixToFour(address), 16 + bits, 'ipv6');
}

/** https://www.rfc-editor.org/rfc/rfc3056#section-2 */
function sixToFour(address: string): string {
  const [a, b, c, d] = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return `2002:${a}${b}:${c}${d}::`;
}

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
  const withoutZone = address.replace(/%.*$/, '');
  if (!REFUSED.check(withoutZone, isIP(withoutZone) === 6 ? 'ipv6' : 'ipv4')) return;
  throw Object.assign(new Error('refused address'), { code: 'ERR_REFUSED_ADDRESS' });
}
