import { type ObjectKey, splitKey } from '../kube/api/object-key.ts';
import type { ApiRequest } from '../kube/http/transport.ts';

/** Something that a person does: the line to type, and the request that this line makes. One comes with the other, so they cannot drift apart. */
export interface Command {
  /** One line for a POSIX shell. */
  readonly line: string;
  readonly request: ApiRequest;
}

const CONFIG_MAPS = '/api/v1/namespaces';

export function createNamespace(name: string): Command {
  return {
    line: `kubectl create namespace ${name}`,
    request: post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
  };
}

/** Values must be plain words: they are not quoted for the shell. */
export function createConfigMap(key: ObjectKey, data: Readonly<Record<string, string>>): Command {
  const { namespace, name } = splitKey(key);
  const literals = Object.entries(data).map(([entry, value]) => ` --from-literal=${entry}=${value}`);
  return {
    line: `kubectl create configmap ${nameAndNamespace(key)}${literals.join('')}`,
    request: post(`${CONFIG_MAPS}/${namespace}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data,
    }),
  };
}

export function labelConfigMap(key: ObjectKey, label: string, value: string): Command {
  return {
    line: `kubectl label configmap ${nameAndNamespace(key)} ${label}=${value}`,
    request: mergePatch(key, { metadata: { labels: { [label]: value } } }),
  };
}

/** Replaces the annotation when it is there. */
export function annotateConfigMap(key: ObjectKey, annotation: string, value: string): Command {
  return {
    line: `kubectl annotate --overwrite configmap ${nameAndNamespace(key)} ${annotation}='${value}'`,
    request: mergePatch(key, { metadata: { annotations: { [annotation]: value } } }),
  };
}

export function patchData(key: ObjectKey, data: Readonly<Record<string, string>>): Command {
  return {
    line: `kubectl patch configmap ${nameAndNamespace(key)} --type=merge -p '${JSON.stringify({ data })}'`,
    request: mergePatch(key, { data }),
  };
}

export function deleteConfigMap(key: ObjectKey): Command {
  return {
    line: `kubectl delete configmap ${nameAndNamespace(key)}`,
    // What kubectl asks for unless told otherwise: dependents are left to the garbage collector.
    request: { ...json('DELETE', pathOf(key), { propagationPolicy: 'Background' }) },
  };
}

/** kubectl itself goes to the namespace "default", unless the kubeconfig says otherwise. */
function nameAndNamespace(key: ObjectKey): string {
  const { namespace, name } = splitKey(key);
  return namespace === 'default' ? name : `${name} -n ${namespace}`;
}

function pathOf(key: ObjectKey): string {
  const { namespace, name } = splitKey(key);
  return `${CONFIG_MAPS}/${namespace}/configmaps/${name}`;
}

function post(path: string, body: unknown): ApiRequest {
  return json('POST', path, body);
}

function mergePatch(key: ObjectKey, body: unknown): ApiRequest {
  return json('PATCH', pathOf(key), body, 'application/merge-patch+json');
}

function json(
  method: ApiRequest['method'],
  path: string,
  body: unknown,
  type = 'application/json',
): ApiRequest {
  return { method, path, headers: { 'content-type': type }, body: JSON.stringify(body) };
}
