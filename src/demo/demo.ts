import type { Cluster } from '../kube/config/cluster.ts';
import { createTransport, type Transport } from '../kube/http/transport.ts';
import { CLUSTER_SETTING, GUEST, SANDBOX_SETTING, TEAMS } from './cast.ts';
import { type Command, createNamespace } from './command.ts';
import { DemoError, refusalOf } from './demo-error.ts';
import { OwnNamespaces } from './own-namespaces.ts';
import { type PerformanceDeps, perform } from './perform.ts';
import type { Tally } from './player.ts';
import { clusterIntroduction, farewell, leftBehind, REMOVING, sandboxIntroduction } from './words.ts';

/** Where the workshop plays. */
export type Stage =
  | {
      readonly kind: 'sandbox';
      readonly cluster: Cluster;
      /** Lets the API server fail the controller's writes, or recover. */
      readonly setFailing: (failing: boolean) => void;
    }
  /** Somebody's cluster: the demo works in namespaces that it creates, and removes them at the end. */
  | { readonly kind: 'cluster'; readonly cluster: Cluster };

/** Not the controller's: the sandbox's outage is for that one only. */
const USER_AGENT = 'workshop';

/**
 * Plays the workshop and checks each of its steps. Whatever it started is stopped and whatever it created is removed
 * when it settles.
 * @throws DemoError when a step does not hold, the cluster refuses, or the signal aborts.
 */
export async function playDemo(stage: Stage, deps: PerformanceDeps): Promise<void> {
  const requests = new AbortController();
  const transport = createTransport(stage.cluster, {
    clock: deps.clock,
    userAgent: USER_AGENT,
    signal: requests.signal,
  });
  try {
    if (stage.kind === 'cluster') await playAsGuest(stage.cluster, transport, deps);
    else await playInSandbox(stage.setFailing, transport, deps);
  } finally {
    requests.abort();
    await transport.close();
  }
}

async function playInSandbox(
  setFailing: (failing: boolean) => void,
  transport: Transport,
  deps: PerformanceDeps,
): Promise<void> {
  const setting = SANDBOX_SETTING;
  deps.narrator.say(...sandboxIntroduction(setting));
  const send = ({ request }: Command) => transport.call(request);
  deps.narrator.say(...farewell(setting, await perform({ setting, transport, send, setFailing }, deps)));
}

async function playAsGuest(cluster: Cluster, transport: Transport, deps: PerformanceDeps): Promise<void> {
  const { narrator, clock, signal } = deps;
  const setting = CLUSTER_SETTING;
  const namespaces = new OwnNamespaces(transport, clock);
  try {
    await namespaces.refuseExisting([setting.home, ...TEAMS, GUEST]);
    narrator.say(...clusterIntroduction(setting, cluster));
    const home = createNamespace(setting.home);
    narrator.preparation(home.line);
    await namespaces.send(home);
  } catch (error) {
    if (error instanceof DemoError) throw error;
    throw new DemoError(`the demo cannot create namespaces in this cluster: ${refusalOf(error)}`);
  }
  let tally: Tally;
  let left: Awaited<ReturnType<OwnNamespaces['remove']>>;
  try {
    tally = await perform({ setting, transport, send: (command) => namespaces.send(command) }, deps);
  } finally {
    narrator.say(REMOVING);
    left = await namespaces.remove(signal);
    narrator.say(...leftBehind(left));
  }
  narrator.say(...farewell(setting, tally));
  if (left.staying.length > 0) throw new DemoError('not everything that the demo created could be removed');
}
