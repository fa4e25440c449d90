import { splitKey } from '../kube/api/object-key.ts';
import { parseNotify } from '../mirror/request/notify.ts';
import { matchesPatterns } from '../mirror/request/patterns.ts';
import type { Sink } from './delivery/config.ts';
import type { Receiver } from './state/pending.ts';
import type { SourceRecord } from './state/record.ts';

/** The sinks that a source chooses, and what is wrong with its choice. */
export interface Choice {
  readonly sinks: readonly Sink[];
  /** One clause for each sink that it names in vain. */
  readonly problems: readonly string[];
}

/** `notify`: the source's annotation. A malformed one chooses nobody, and is reported elsewhere. */
export function chosenSinks(
  { ref, notify }: Pick<SourceRecord, 'ref'> & { readonly notify?: string | undefined },
  sinks: readonly Sink[],
): Choice {
  const { namespace } = splitKey(ref);
  const admits = (sink: Sink) => matchesPatterns(sink.sourceNamespaces, namespace);
  if (notify === undefined) {
    return { sinks: sinks.filter((sink) => sink.default && admits(sink)), problems: [] };
  }
  const names = parseNotify(notify);
  const chosen: Sink[] = [];
  const problems: string[] = [];
  for (const name of names.ok ? names.value : []) {
    const sink = sinks.find((each) => each.name === name);
    if (sink === undefined) problems.push(`there is no sink ${name}`);
    else if (!admits(sink)) problems.push(`sink ${name} does not accept sources of namespace ${namespace}`);
    else chosen.push(sink);
  }
  return { sinks: chosen, problems };
}

/** What is remembered of the annotation. Tenants write it, and the state has little room. */
export function rememberedChoice({ sinks }: Choice): string {
  return sinks.map(({ name }) => name).join() || 'none';
}

/**
 * Who hears of a source: the sinks that it chooses. One that it no longer chooses, and that has
 * something of it waiting, hears nothing new.
 */
export function receiversOf(
  record: Pick<SourceRecord, 'sinks'> | undefined,
  chosen: readonly Sink[],
  sending: (sink: string) => number | undefined,
): readonly Receiver[] {
  const names = chosen.map(({ name }) => name);
  const left = Object.keys(record?.sinks ?? {}).filter((name) => !names.includes(name));
  return [
    ...chosen.map(({ name, types, type }) => {
      return { name, types, createdOnce: type === 'slack', sending: sending(name) };
    }),
    ...left.map((name) => ({ name, types: NOTHING, createdOnce: false, sending: sending(name) })),
  ];
}

const NOTHING: Receiver['types'] = new Set();
