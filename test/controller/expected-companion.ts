import { createHash } from 'node:crypto';
import type { ConfigMap } from '../../src/kube/api/types.ts';
import type { StringMap } from '../../src/mirror/vocabulary.ts';

/** The parts of a ConfigMap that rules are about: no uid, version, times, managed fields. */
export interface Facts {
  readonly data: StringMap;
  readonly binaryData: StringMap;
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly owners: readonly string[];
}

export function factsOf({ data = {}, binaryData = {}, metadata }: ConfigMap): Facts {
  return {
    data,
    binaryData,
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    owners: (metadata.ownerReferences ?? []).map(
      ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }) =>
        [apiVersion, kind, name, uid, controller === true, blockOwnerDeletion === true].join(' '),
    ),
  };
}

export interface Wanted {
  readonly domain: string;
  readonly source: ConfigMap;
  /** `namespace/name` of the companion. */
  readonly key: string;
  /** What is copied; default everything. */
  readonly data?: StringMap;
  readonly binaryData?: StringMap;
  /** In addition to those that every companion has. */
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly retained?: boolean;
}

/** A companion as the tables of SPEC define it, without the code under test. */
export function expectedCompanion(wanted: Wanted): Facts {
  const { domain, source, key, retained = false } = wanted;
  const { data = source.data ?? {}, binaryData = source.binaryData ?? {} } = wanted;
  const { namespace, name, uid } = source.metadata;
  const beside = key.startsWith(`${namespace}/`);
  return {
    data,
    binaryData,
    labels: {
      ...wanted.labels,
      [`${domain}/managed`]: 'companion',
      'app.kubernetes.io/managed-by': 'mirror-controller',
    },
    annotations: {
      ...wanted.annotations,
      [`${domain}/source`]: `${namespace}/${name}`,
      [`${domain}/source-uid`]: uid,
      [`${domain}/source-checksum`]: checksum(data, binaryData),
      [`${domain}/companion`]: key,
      ...(retained ? { [`${domain}/deletion-policy`]: 'retain' } : {}),
    },
    owners: beside && !retained ? [`v1 ConfigMap ${name} ${uid} true false`] : [],
  };
}

/** The checksum by its public description (SPEC M4). */
export function checksum(data: StringMap, binaryData: StringMap): string {
  const section = (heading: string, entries: StringMap, encoding: BufferEncoding) =>
    Object.keys(entries)
      .sort()
      .map((key) => [Buffer.from(key), Buffer.from(entries[key] ?? '', encoding)] as const)
      .flatMap(([key, value]) => [Buffer.from(`${key.length} ${value.length}\n`), key, value, LINE_FEED])
      .reduce((whole, part) => Buffer.concat([whole, part]), Buffer.from(`${heading}\n`));
  const text = Buffer.concat([section('data', data, 'utf8'), section('binaryData', binaryData, 'base64')]);
  return createHash('sha256').update(text).digest('hex');
}

const LINE_FEED = Buffer.from('\n');
