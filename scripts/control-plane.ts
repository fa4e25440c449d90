/** `npm run control-plane`: a real Kubernetes control plane by hand, until Ctrl-C. */
import process from 'node:process';
import { startControlPlane } from '../test/support/control-plane.ts';
import {
  findBinaries,
  kubernetesVersion,
  NoControlPlaneError,
} from '../test/support/control-plane-binaries.ts';

async function main(): Promise<void> {
  const [argument] = process.argv.slice(2);
  if (argument !== undefined) {
    console.error(`npm run control-plane takes no arguments, but got "${argument}"`);
    process.exitCode = 2;
    return;
  }
  const binaries = await findBinaries({ env: process.env, onProgress: (line) => console.error(line) });
  await using controlPlane = await startControlPlane({ binaries });
  console.error(`Kubernetes ${kubernetesVersion()} at ${controlPlane.url}, until Ctrl-C`);
  console.log(`export KUBECONFIG=${controlPlane.kubeconfigPath}`);
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}

main().catch((error: unknown) => {
  console.error(error instanceof NoControlPlaneError ? error.message : error);
  process.exitCode = 1;
});
