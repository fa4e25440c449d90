import { setMaxListeners } from 'node:events';
import { Writable } from 'node:stream';
import type { Controller } from '../controller/controller.ts';
import type { Cluster } from '../kube/config/cluster.ts';
import { createTransport } from '../kube/http/pooled-transport.ts';
import type { Transport } from '../kube/http/transport.ts';
import { shellQuoted } from '../mirror/shell-quoted.ts';
import { DEFAULT_DOMAIN } from '../mirror/vocabulary.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createLogger } from '../telemetry/pino-logger.ts';
import { aBadDay } from './a-bad-day.ts';
import { type Command, createNamespace } from './commands.ts';
import { manyNamespaces } from './many-namespaces.ts';
import { oneNamespace } from './one-namespace.ts';
import { OwnNamespaces } from './own-namespaces.ts';
import { answerTo, DemoError, type PlayerDeps, play } from './player.ts';
import { CLUSTER_SETTING, namespacesOf, SANDBOX_SETTING, type Setting } from './setting.ts';
import { type LogRecord, View, watchConfigMaps } from './view.ts';

/** Where the demo runs. */
export interface Place {
  readonly cluster: Cluster;
  /**
   * On the sandbox: lets the API server fail the controller's writes, or recover. Absent in a real
   * cluster, where the demo works in namespaces that it creates, and removes them at the end.
   */
  readonly setFailing?: (failing: boolean) => void;
}

export interface DemoDeps extends Pick<PlayerDeps, 'narrator' | 'clock' | 'signal' | 'pause'> {
  /** The controller uses the domain and `DELETE_BRAKE`, and logs to `log`, debug records too. */
  readonly openController: (
    domain: string,
    log: Logger,
  ) => AsyncDisposable & { readonly controller: Pick<Controller, 'run' | 'isSynced' | 'isSettled'> };
  /** A number in [0, 1), for jitter. */
  readonly random: () => number;
}

/**
 * Plays the workshop and checks each step. When it settles, all that it started has stopped, and
 * all that it created is removed.
 * @throws DemoError when a step fails or the signal aborts; else what the API throws.
 */
export async function playDemo({ cluster, setFailing }: Place, deps: DemoDeps): Promise<void> {
  const { narrator, clock, signal } = deps;
  const isCluster = setFailing === undefined;
  const setting = isCluster ? CLUSTER_SETTING : SANDBOX_SETTING;
  const requests = new AbortController();
  // Not the controller's user agent: the sandbox fails only the controller's requests.
  const transport = createTransport(cluster, { clock, userAgent: 'workshop', signal: requests.signal });
  const namespaces = new OwnNamespaces(transport, clock);
  const kubectl = `kubectl --context ${shellQuoted(cluster.context ?? '')}`;
  const send = (command: Command) => namespaces.send(command);
  let left: readonly string[] = [];
  try {
    if (isCluster) await namespaces.refuseExisting(namespacesOf(setting), kubectl);
    narrator.say(...(isCluster ? aboutCluster(setting, cluster) : [ABOUT_SANDBOX]), ...aboutSteps(setting));
    if (isCluster) await send(createNamespace(setting.home));
    await playSteps(setting, transport, { ...deps, setFailing, send });
    if (isCluster) narrator.say('Now the demo removes its namespaces, which takes a cluster some seconds.');
  } finally {
    if (isCluster) left = await namespaces.remove(signal);
    const names = left.join(' ');
    if (left.length > 0) narrator.say(`NOT YET REMOVED, please check: ${kubectl} get namespace ${names}`);
    requests.abort();
    await transport.close();
  }
  if (left.length > 0) throw new DemoError('not everything that the demo created could be removed');
  narrator.say(FAREWELL);
}

/**
 * Starts a controller, plays all steps, and stops it.
 * @throws DemoError
 */
export async function playSteps(
  setting: Setting,
  transport: Transport,
  deps: DemoDeps & Pick<PlayerDeps, 'send' | 'setFailing'>,
): Promise<void> {
  const records: LogRecord[] = [];
  await using session = deps.openController(setting.vocabulary.domain, logTo(records));
  const { controller } = session;
  const informer = watchConfigMaps(transport, namespacesOf(setting), { ...deps, log: logTo([]) });
  const configMaps = informer.lister;
  const stop = new AbortController();
  // The controller and several watches listen to it; from the eleventh on, Node warns of a leak.
  setMaxListeners(0, stop.signal);
  const running = Promise.all([controller.run(stop.signal), informer.run(stop.signal)]);
  // Awaited at the end. If it fails before, the cleanup below must run all the same.
  running.catch(() => undefined);
  try {
    const isSynced = () => controller.isSynced() && informer.isSynced();
    await answerTo(isSynced, deps, 'the controller to sync its caches', new View(configMaps, records));
    const chapters = {
      'One namespace': oneNamespace(setting),
      'Many namespaces': manyNamespaces(setting),
      'A bad day': aBadDay(setting),
    };
    await play(chapters, { ...deps, configMaps, records, controller });
  } finally {
    stop.abort();
    await running;
  }
}

/** A log that the demo reads before a person does. */
function logTo(records: LogRecord[]): Logger {
  const stream = new Writable({
    write: (line, _encoding, done) => {
      records.push(JSON.parse(String(line)));
      done();
    },
  });
  return createLogger({ level: 'debug', format: 'json', colour: false, stream });
}

const ABOUT_SANDBOX =
  'The mirror-controller workshop, on its sandbox: a Kubernetes API server in memory, inside this process. The ' +
  'controller runs beside it.';

function aboutCluster(setting: Setting, { context, server }: Cluster): readonly string[] {
  return [
    `The mirror-controller workshop, on ${context === undefined ? server : `the cluster of context "${context}"`}. It ` +
      'creates these namespaces, works only in them, and removes them at the end: ' +
      `${namespacesOf(setting).join(', ')}.`,
    `The controller runs in this process with its own labels, ${setting.vocabulary.domain}/ instead of ` +
      `${DEFAULT_DOMAIN}/. It sees nothing that is mirrored here already, and a controller that runs here sees ` +
      'nothing of the demo.',
  ];
}

function aboutSteps({ vocabulary }: Setting): readonly string[] {
  return [
    `The controller keeps one promise: a ConfigMap labelled ${vocabulary.managed}=true, a source, has a companion, a ` +
      'copy that always equals it.',
    'Each step shows what you would type, what the controller logs (|), and whether the effect is there (✓). The ' +
      "time runs from sending the last command to seeing the effect on the demo's own watch.",
  ];
}

const FAREWELL =
  'docs/reference.md lists what else a source can ask for. To try it with your own kubectl: npm run sandbox';
