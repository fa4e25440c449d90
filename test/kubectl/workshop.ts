import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Kubectl, useKubectl } from '../support/kubectl.ts';
import { sandboxServer } from '../support/servers/sandbox-server.ts';
import type { Place } from '../support/servers/server.ts';

/** A sandbox, and a kubectl for it in a namespace of the running test. */
export interface Workshop extends Kubectl {
  readonly namespace: string;
  /** Runs a command that must succeed, and resolves to what it prints. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** Creates the object with `kubectl create`, which must succeed. */
  create(object: object): Promise<string>;
  /** The data of a ConfigMap. */
  dataOf(name: string): Promise<unknown>;
}

/** Call it once in a `describe`, outside of its tests. */
export function useWorkshop(): Workshop {
  let place: Place;
  let count = 0;
  const namespace = () => `test-${count}`;
  const driver = useKubectl(() => place.kubeconfigPath, namespace);
  beforeAll(async () => {
    place = await sandboxServer.open();
  });
  beforeEach(async () => {
    count += 1;
    await succeed(['create', 'namespace', namespace()]);
  });
  afterAll(() => place[Symbol.asyncDispose]());

  const succeed = async (...call: Parameters<Kubectl['run']>) => {
    const { exitCode, stdout, stderr } = await driver.run(...call);
    if (exitCode !== 0)
      throw new Error(`kubectl ${call[0].join(' ')} exited with ${exitCode}: ${stderr}${stdout}`);
    return stdout;
  };
  return {
    ...driver,
    get namespace() {
      return namespace();
    },
    kubectl: (...args) => succeed(args),
    create: (object) => succeed(['create', '-f', '-'], { input: JSON.stringify(object) }),
    dataOf: async (name) =>
      JSON.parse((await succeed(['get', 'cm', name, '-o', 'jsonpath={.data}'])) || '{}'),
  };
}
