import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { systemClock } from '../src/clock/clock.ts';
import { stateMetrics } from '../src/controller/metrics/state-metrics.ts';
import { Survey } from '../src/controller/metrics/survey.ts';
import { configMapIndexers, createClusterView } from '../src/controller/reconcile/cluster-view.ts';
import { MutationCache } from '../src/controller/write/mutation-cache.ts';
import { IndexedMap } from '../src/informer/indexed-map.ts';
import { observe, sourceReference } from '../src/mirror/observe/observed-config-map.ts';
import { observeNamespace } from '../src/mirror/observe/observed-namespace.ts';
import { PrometheusMetrics } from '../src/telemetry/prometheus.ts';
import { companion, namespace, source, vocabulary } from '../test/mirror/wire.ts';
import { boundsOf } from '../test/mirror/world.ts';

/**
 * What a scrape costs (SPEC O1), without servers: `npx tsx bench/scrape.ts [SOURCES] [NAMESPACES]`,
 * by default 100 sources with a companion in each of 100 namespaces. Prints, for each of some
 * scrapes, for how long they held the event loop: in total, and at once.
 */
const [sources = 100, namespaces = 100] = process.argv.slice(2).map(Number);
const SCRAPES = 20;

const settings = { vocabulary, bounds: boundsOf(), brake: undefined };
const configMaps = new IndexedMap(configMapIndexers(settings));
const known = new Map<string, ReturnType<typeof observeNamespace>>();
for (let team = 0; team < namespaces; team++) {
  const observed = observeNamespace(namespace(`team-${team}`), vocabulary);
  known.set(observed.name, observed);
}
for (let number = 0; number < sources; number++) {
  const one = source(`home/source-${number}`, { 'target-namespaces': 'team-*' });
  configMaps.set(observe(one, vocabulary));
  for (const team of known.keys())
    configMaps.set(observe(companion(one, `${team}/source-${number}-synced`), vocabulary));
}
const mutations = new MutationCache(systemClock, (object) => sourceReference(object, vocabulary));
const survey = new Survey({
  view: createClusterView({
    settings,
    configMaps,
    namespaces: { get: (name) => known.get(name), values: () => known.values() },
    mutations,
    memory: { unwantedMs: () => undefined },
    deletions: { recent: () => new Set() },
    versions: { unsettledMs: () => 0 },
    clock: systemClock,
  }),
  // No source has anything to render.
  renderings: { prepareFromCache: async () => undefined },
  configMaps,
  memory: { isInConflict: () => false, isBlocked: () => false },
  areNamespacesSynced: () => true,
  clock: systemClock,
});
const metrics = new PrometheusMetrics();
stateMetrics(metrics, survey, { bytes: 0 });

/** A turn of the event loop shorter than this (ms) is that of the measurement itself. */
const SHORT_MS = 0.5;

for (let scrape = 0; scrape < SCRAPES; scrape++) {
  const turns: number[] = [];
  let isOver = false;
  let last = performance.now();
  let lastCpu = process.cpuUsage();
  // The machine may be busy with something else: a turn takes at most the processor time used.
  const look = () => {
    const { user, system } = process.cpuUsage(lastCpu);
    turns.push(Math.min(performance.now() - last, (user + system) / 1000));
    last = performance.now();
    lastCpu = process.cpuUsage();
    if (!isOver) setImmediate(look);
  };
  const text = await Promise.all([metrics.scrape(), setImmediate(look)]).then(([scraped]) => scraped);
  isOver = true;
  look();
  const total = turns.filter((ms) => ms >= SHORT_MS).reduce((sum, ms) => sum + ms, 0);
  const found = /mirror_companions\{state="in_sync"\} \d+/.exec(text)?.[0];
  process.stdout.write(
    `${found}: ${total.toFixed(0)} ms, at most ${Math.max(...turns).toFixed(0)} ms at once\n`,
  );
}
process.exit();
