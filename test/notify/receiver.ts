import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudEvent, HTTP } from 'cloudevents';
import { onTestFinished } from 'vitest';
import {
  type Handler,
  type LoopbackServer,
  type ReceivedRequest,
  startServer,
} from '../kube/loopback-server.ts';
import { createAuthority } from '../support/tls.ts';

/** A folder with these files, gone after the test. Returns its path. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'notify-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/**
 * A folder like one where the kubelet mounts a Secret, and what it does when the Secret changes.
 */
export function mountedSecret(files: Readonly<Record<string, string>>) {
  const folder = folderWith({});
  let versions = 0;
  const change = (now: Readonly<Record<string, string>>) => {
    const version = `..version-${versions++}`;
    mkdirSync(join(folder, version));
    for (const [name, text] of Object.entries(now)) writeFileSync(join(folder, version, name), text);
    symlinkSync(version, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  change(files);
  for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(folder, name));
  return { folder, change };
}

export const ACCEPT: Handler = (_, response) => void response.writeHead(204).end();

/** An HTTPS server that takes notifications, and the PEM of its authority. */
export async function startReceiver(
  handler: Handler = ACCEPT,
): Promise<LoopbackServer & { readonly ca: string }> {
  const authority = await createAuthority();
  const server = await startServer(handler, await authority.server());
  return { ...server, ca: authority.cert };
}

/** As a receiver that uses the SDK reads it. */
export function eventOf({ headers, body }: Pick<ReceivedRequest, 'headers' | 'body'>) {
  const event = HTTP.toEvent<Record<string, unknown>>({ headers: { ...headers }, body });
  if (!(event instanceof CloudEvent)) throw new Error('it is a batch');
  event.validate();
  return event;
}
