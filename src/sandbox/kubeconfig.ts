/** A kubeconfig for the server at `url`, with the one context `sandbox`. There are no credentials: none are asked for. */
export function kubeconfigFor(url: string): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: sandbox
  cluster:
    server: ${url}
contexts:
- name: sandbox
  context:
    cluster: sandbox
    user: sandbox
    namespace: default
current-context: sandbox
users:
- name: sandbox
  user: {}
`;
}
