import { expect, onTestFinished, test } from 'vitest';
import { createController } from '../../src/controller/create-controller.ts';
import type { WatchEvent } from '../../src/kube/api/list-watch.ts';
import type { ConfigMap, Namespace } from '../../src/kube/api/types.ts';
import { NO_METRICS } from '../../src/telemetry/metrics.ts';
import { RecordedLog } from '../informer/recorded-log.ts';
import { hang, ScriptedListWatch, send, wait } from '../informer/scripted-list-watch.ts';
import { namespace, source, vocabulary } from '../mirror/wire.ts';
import { boundsOf } from '../mirror/world.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryApi } from './memory-api.ts';

const page = <T>(...items: readonly T[]) => ({ items, resourceVersion: '5', bytes: 10 });
/** The server does not stream the list. */
const NO_STREAM = [] as const;
const SAID = ['source needs attention', 'resolved'];

test('[O4] the problems of a source that went while another replica led are over', async () => {
  const clock = new ManualClock();
  const log = new RecordedLog();
  const typo = source('home/colors', { 'target-namespace': 'team-a' });
  const gone: WatchEvent<ConfigMap> = {
    type: 'DELETED',
    object: { ...typo, metadata: { ...typo.metadata, resourceVersion: '9' } },
  };
  const configMaps = new ScriptedListWatch<ConfigMap>(clock, {
    lists: [page(typo)],
    watches: [NO_STREAM, [wait(20_000), send(gone), hang]],
  });
  const namespaces = new ScriptedListWatch<Namespace>(clock, {
    lists: [page(namespace('home'))],
    watches: [NO_STREAM, [hang]],
  });
  const api = new MemoryApi([typo]);
  let leads = true;
  const controller = createController(
    {
      settings: { vocabulary, bounds: boundsOf(), brake: undefined },
      workers: 4,
      maxWritesInFlight: 4,
      maxWritesPerSecond: 0,
      resyncMs: 0,
      sourceCacheBytes: 2 ** 20,
      dryRun: false,
    },
    {
      api,
      configMaps: new Map([['all', configMaps]]),
      namespaces: new Map([['all', namespaces]]),
      mayWrite: () => leads,
      clock,
      random: () => 0,
      log,
      listeners: [],
      metrics: NO_METRICS,
    },
  );
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const said = () => log.told.map(({ message }) => message).filter((message) => SAID.includes(message));
  await clock.advance(5000);
  leads = false;
  api.objects.clear();
  await clock.advance(30_000);
  expect(said()).toEqual(['source needs attention']);
  leads = true;
  await Promise.all([controller.takeOver(), clock.advance(60_000)]);
  expect(said()).toEqual(['source needs attention', 'resolved']);
});
