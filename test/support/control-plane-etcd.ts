import { request } from 'undici';

/**
 * Compacts etcd up to its present revision, as the apiserver does every five minutes: it notes the
 * revision under this key first, which apiservers watch to forget as much (k8s.io/apiserver
 * pkg/storage/etcd3/compact.go).
 */
const COMPACTED_REVISION_KEY = 'compact_rev_key';

/**
 * After it a list that goes on from an older `continue` token ends in a 410, and so does, once the
 * apiserver has restarted or when it has no watch cache, a watch from an older resourceVersion.
 */
export async function compactEtcd(etcdUrl: string): Promise<void> {
  const key = base64(COMPACTED_REVISION_KEY);
  const { header } = await etcdCall(etcdUrl, 'kv/range', { key });
  await etcdCall(etcdUrl, 'kv/put', { key, value: base64(header.revision) });
  await etcdCall(etcdUrl, 'kv/compaction', { revision: header.revision, physical: true });
}

/** etcd's gRPC API in JSON: 64-bit numbers are strings, bytes are base64. */
async function etcdCall(
  etcdUrl: string,
  path: string,
  body: object,
): Promise<{ readonly header: { readonly revision: string } }> {
  const answer = await request(`${etcdUrl}/v3/${path}`, { method: 'POST', body: JSON.stringify(body) });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`etcd ${path} answered ${answer.statusCode}: ${text}`);
  return JSON.parse(text) as { readonly header: { readonly revision: string } };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
