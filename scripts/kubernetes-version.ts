/**
 * `npx tsx scripts/kubernetes-version.ts 1.37.0`: moves the control plane of the tests to another
 * version of Kubernetes. Go applies no `replace` of a dependency, so those of k8s.io/kubernetes,
 * which map each of its staging modules, have to stand in our go.mod too; this writes them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../test/control-plane/', import.meta.url));
const go = (...flags: readonly string[]) => execFileSync('go', flags, { cwd: folder, encoding: 'utf8' });

/** The go.mod for a version such as `1.37.0`; `upstream` is k8s.io/kubernetes' own. */
function goModFor(version: string, upstream: string): string {
  const goVersion = /^go .*$/m.exec(upstream)?.[0];
  const staging = [...upstream.matchAll(/^\s*(k8s\.io\/\S+) => \.\/staging\//gm)].map(([, module]) => module);
  if (goVersion === undefined || staging.length === 0) {
    throw new Error(`the go.mod of k8s.io/kubernetes v${version} is not as expected`);
  }
  const stagingVersion = version.replace(/^1\./, 'v0.');
  return `// Written by scripts/kubernetes-version.ts and go mod tidy.
module mirror-controller/control-plane

${goVersion}

tool (
	go.etcd.io/etcd/server/v3
	k8s.io/kubernetes/cmd/kube-apiserver
	k8s.io/kubernetes/cmd/kube-controller-manager
)

require k8s.io/kubernetes v${version}

replace (
${staging.map((module) => `\t${module} => ${module} ${stagingVersion}`).join('\n')}
)
`;
}

const [version = ''] = process.argv.slice(2);
if (/^1\.\d+\.\d+$/.test(version)) {
  const download = go('mod', 'download', '-json', `k8s.io/kubernetes@v${version}`);
  const { GoMod: upstreamPath } = JSON.parse(download) as { readonly GoMod: string };
  writeFileSync(`${folder}go.mod`, goModFor(version, readFileSync(upstreamPath, 'utf8')));
  go('mod', 'tidy');
  console.log(
    'Next: RECORD_CONTRACT=1 npm run test:control-plane -- test/contract, and read what git says changed.',
  );
} else {
  console.error('usage: npx tsx scripts/kubernetes-version.ts 1.MINOR.PATCH');
  process.exitCode = 2;
}
