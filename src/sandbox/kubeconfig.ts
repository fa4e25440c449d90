/** In each kubeconfig of a sandbox. kubectl keeps it when it rewrites the file, unlike comments. */
export const SANDBOX_MARK = 'provider: mirror-controller';

/**
 * A kubeconfig for the server at `url` with the context `sandbox`. The server asks for no
 * credentials.
 */
export function kubeconfigFor(url: string): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: sandbox
  cluster:
    server: ${url}
    extensions:
    - name: cluster_info
      extension:
        ${SANDBOX_MARK}
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
