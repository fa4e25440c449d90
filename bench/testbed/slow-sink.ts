import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A receiver of notifications on loopback that takes its time to answer. */
export class SlowSink implements AsyncDisposable {
  /** What it was last told of each source, by its subject. */
  readonly versions = new Map<string, string>();
  readonly #server: Server;

  private constructor(answerMs: number) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { subject, data } = JSON.parse(Buffer.concat(chunks).toString());
        this.versions.set(subject, data.data?.version);
        setTimeout(() => response.writeHead(204).end(), answerMs);
      });
    });
  }

  static async open(answerMs: number): Promise<SlowSink> {
    const sink = new SlowSink(answerMs);
    await once(sink.#server.listen(0, '127.0.0.1'), 'listening');
    return sink;
  }

  /** Writes a file for `--notify-config` that sends it the data of every source. */
  writeConfig(folder: string): string {
    const path = join(folder, 'sinks.json');
    const { port } = this.#server.address() as AddressInfo;
    const sink = {
      ...{ name: 'slow', type: 'webhook', url: `http://127.0.0.1:${port}/`, allowHttp: true },
      ...{ default: true, content: 'full', types: ['source.created', 'source.changed'] },
    };
    writeFileSync(path, JSON.stringify({ sinks: [sink] }));
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
