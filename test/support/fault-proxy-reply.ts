import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Fault } from './fault-proxy-rules.ts';

/** What becomes of a chunk: pass these bytes on, and then go on, end, fall silent or break. */
interface Outcome {
  readonly pass: Buffer;
  readonly next: 'go on' | 'end' | 'silence' | 'break';
}

type Edit = (chunk: Buffer) => Outcome;

/**
 * The body of one reply, on its way from the server to the client through what the fault does to
 * it.
 */
export class FaultyBody {
  readonly #reply: ServerResponse;
  #edit: Edit;

  constructor(reply: ServerResponse, fault: Fault | undefined) {
    this.#reply = reply;
    this.#edit = editOf(fault);
  }

  /** From now on nothing more comes out, the end neither. */
  silence(): void {
    this.#edit = swallow;
  }

  cut(): void {
    this.#reply.destroy();
  }

  /** Resolves when the client has all that it gets; rejects when its connection is to break. */
  async pass(answer: IncomingMessage): Promise<void> {
    for await (const chunk of answer) {
      const { pass, next } = this.#edit(chunk);
      if (pass.length > 0) await this.#write(pass);
      if (next === 'break') throw new Error('cut by the fault proxy');
      if (next === 'silence') this.silence();
      if (next === 'end') break;
    }
    if (this.#edit === swallow) await once(this.#reply, 'close');
    else this.#reply.end();
  }

  /**
   * Waits until the bytes are on their way, so that what breaks afterwards does not take them
   * along.
   */
  #write(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#reply.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }
}

const NOTHING = Buffer.alloc(0);
const swallow: Edit = () => ({ pass: NOTHING, next: 'go on' });
const passOn: Edit = (chunk) => ({ pass: chunk, next: 'go on' });

function editOf(fault: Fault | undefined): Edit {
  switch (fault?.kind) {
    case 'cut':
      return afterBytes(fault.afterBytes, 'break');
    case 'silence':
      return afterBytes(fault.afterBytes, 'silence');
    case 'duplicate-line':
      return atLine(fault.line, (line) => ({ pass: Buffer.concat([line, line]), next: 'go on' }));
    case 'truncated-line':
      return atLine(fault.line, (line) => ({ pass: line.subarray(0, line.length >> 1), next: 'end' }));
    case 'replaced-line':
      return atLine(fault.line, () => ({ pass: Buffer.from(`${fault.text}\n`), next: 'go on' }));
    default:
      return passOn;
  }
}

function afterBytes(limit: number, next: Outcome['next']): Edit {
  let left = limit;
  return (chunk) => {
    const pass = chunk.subarray(0, left);
    left -= pass.length;
    return { pass, next: left === 0 ? next : 'go on' };
  };
}

/**
 * Holds a line back until it is whole, so that it can be edited; for replies that end in a line
 * feed, as all of Kubernetes' do.
 */
function atLine(wanted: number, edit: Edit): Edit {
  let number = 1;
  let begun = NOTHING;
  return (chunk) => {
    const passed: Buffer[] = [];
    let rest = Buffer.concat([begun, chunk]);
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      const line = rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
      const outcome = number++ === wanted ? edit(line) : passOn(line);
      passed.push(outcome.pass);
      if (outcome.next !== 'go on') return { pass: Buffer.concat(passed), next: outcome.next };
    }
    begun = rest;
    return { pass: Buffer.concat(passed), next: 'go on' };
  };
}
