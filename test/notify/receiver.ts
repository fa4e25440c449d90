import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
