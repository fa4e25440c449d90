import { onTestFinished } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { Person } from '../controller/person.ts';
import { seriesValue } from '../support/exposition.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import type { Place } from '../support/servers/server.ts';
import { waitFor } from '../support/wait-for.ts';
import { memoryIo } from './memory-io.ts';

interface EventList {
  readonly items: readonly { readonly regarding: { readonly name: string } }[];
}

/** `run` on a sandbox of its own, serving on a free port of loopback. */
export async function startRun(...flags: readonly string[]) {
  return startOn(await sandboxServer.openOwn(), flags);
}

async function startOn(place: Place, flags: readonly string[]) {
  const person = new Person(place.cluster);
  const io = memoryIo();
  const args = ['run', '--kubeconfig', place.kubeconfigPath, '--http-address=127.0.0.1:0'];
  const ended = runProgram([...args, '--log-format=json', ...flags], io);
  const stop = async () => {
    io.stop();
    return ended;
  };
  onTestFinished(async () => {
    await stop();
    await person[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });
  const port = await waitFor(() => /"port":(\d+)/.exec(io.err())?.[1], { describe: io.err });
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
  };
  const scrape = async () => (await get('/metrics')).body;
  return {
    person,
    get,
    stop,
    scrape,
    /** Names of the objects in `default` that have Events. */
    withEvents: async () => {
      const path = '/apis/events.k8s.io/v1/namespaces/default/events';
      const { items } = (await (await fetch(place.access.url + path)).json()) as EventList;
      return items.map(({ regarding }) => regarding.name);
    },
    /** On the same sandbox, which ends with the first. */
    startAnother: (...others: readonly string[]) =>
      startOn({ ...place, [Symbol.asyncDispose]: async () => undefined }, others),
    createSource: (name: string, annotations: Readonly<Record<string, string>> = {}) =>
      person.create({
        metadata: { name, namespace: 'default', labels: { 'workshop.io/managed': 'true' }, annotations },
        data: { sky: 'blue' },
      }),
    /** Waits until the series has the value. */
    shows: (series: string, value: number) =>
      waitFor(async () => seriesValue(await scrape(), series) === value, {
        deadlineMs: 20_000,
        describe: () => `${series} to be ${value}`,
      }),
    io,
  };
}
