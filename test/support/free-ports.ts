import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Loopback TCP ports that nobody listened on a moment ago, all different. For servers that cannot
 * be told to choose one; another process may be quicker.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return ports;
}
