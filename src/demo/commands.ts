import { type ObjectKey, splitKey } from '../kube/api/object-key.ts';
import type { ApiRequest } from '../kube/http/transport.ts';

/** What a person does: the line to type, and the request that it makes. They cannot drift apart. */
export interface Command {
  /** One line for a POSIX shell. */
  readonly line: string;
  readonly request: ApiRequest;
}

export function createNamespace(name: string): Command {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  return { line: `kubectl create namespace ${name}`, request: request('POST', '/api/v1/namespaces', body) };
}

/** Values must be plain words: they are not quoted for the shell. */
export function createConfigMap(key: ObjectKey, data: Readonly<Record<string, string>>): Command {
  const { namespace, name } = splitKey(key);
  const literals = Object.entries(data).map(([entry, value]) => ` --from-literal=${entry}=${value}`);
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
  return {
    line: `kubectl create configmap ${nameAndNamespace(key)}${literals.join('')}`,
    request: request('POST', `/api/v1/namespaces/${namespace}/configmaps`, body),
  };
}

export function labelConfigMap(key: ObjectKey, label: string, value: string): Command {
  return {
    line: `kubectl label configmap ${nameAndNamespace(key)} ${label}=${value}`,
    request: request('PATCH', pathOf(key), { metadata: { labels: { [label]: value } } }),
  };
}

/** Replaces the annotation when it is there. */
export function annotateConfigMap(key: ObjectKey, annotation: string, value: string): Command {
  return {
    line: `kubectl annotate --overwrite configmap ${nameAndNamespace(key)} ${annotation}='${value}'`,
    request: request('PATCH', pathOf(key), { metadata: { annotations: { [annotation]: value } } }),
  };
}

export function removeAnnotation(key: ObjectKey, annotation: string): Command {
  return {
    line: `kubectl annotate configmap ${nameAndNamespace(key)} ${annotation}-`,
    request: request('PATCH', pathOf(key), { metadata: { annotations: { [annotation]: null } } }),
  };
}

export function patchData(key: ObjectKey, data: Readonly<Record<string, string>>): Command {
  return {
    line: `kubectl patch configmap ${nameAndNamespace(key)} --type=merge -p '${JSON.stringify({ data })}'`,
    request: request('PATCH', pathOf(key), { data }),
  };
}

export function deleteConfigMap(key: ObjectKey): Command {
  return {
    line: `kubectl delete configmap ${nameAndNamespace(key)}`,
    // kubectl's default: dependents are left to the garbage collector.
    request: request('DELETE', pathOf(key), { propagationPolicy: 'Background' }),
  };
}

/** Without a namespace, kubectl uses "default" unless the kubeconfig says otherwise. */
function nameAndNamespace(key: ObjectKey): string {
  const { namespace, name } = splitKey(key);
  return namespace === 'default' ? name : `${name} -n ${namespace}`;
}

function pathOf(key: ObjectKey): string {
  const { namespace, name } = splitKey(key);
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`;
}

export function request(method: ApiRequest['method'], path: string, body: unknown): ApiRequest {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  return { method, path, headers: { 'content-type': type }, body: JSON.stringify(body) };
}
