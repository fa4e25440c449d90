import { explanationInWords } from '../../inspect/explanation.ts';
import type { Look } from '../../inspect/inspection.ts';
import { type ObjectKey, objectKey, parseKey, splitKey } from '../../kube/api/object-key.ts';
import { explainCompanion } from '../../mirror/explain/explain.ts';
import { entryMeeting, isUnconfirmed } from '../../mirror/explain/inventory.ts';
import { sourceReference } from '../../mirror/observe/observed-config-map.ts';
import { claims } from '../../mirror/plan/claims.ts';
import { RunError, UsageError } from '../errors.ts';
import type { EXPLAIN_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { type ProcessIo, print, terminalWidth } from '../io.ts';
import { clusterFor } from '../session/from-flags.ts';
import { inspecting } from '../session/inspection-session.ts';

/**
 * `mirror-controller explain`: why a companion is as it is. Resolves to 0 if it is in sync, else to
 * 1 (SPEC C8).
 */
export async function explain(
  flags: FlagValues<typeof EXPLAIN_FLAGS>,
  io: ProcessIo,
  [name]: readonly string[],
): Promise<number> {
  if (name === undefined) throw new UsageError('explain: name a source or a companion, as NAMESPACE/NAME');
  const cluster = clusterFor(flags, io);
  const key = parseKey(name) ?? objectKey(cluster.namespace ?? 'default', name);
  return inspecting(cluster, flags, io, async (inspection, signal) => {
    const look = await inspection.look(signal, { confirm: () => false });
    const { view, entries } = look;
    const asked = await whichCompanion(key, flags.namespace, look);
    const live = await look.observed(asked.source);
    const request = live?.request?.ok ? live.request.value : undefined;
    const companionName = asked.name ?? request?.companionName;
    const companion = companionName === undefined ? undefined : objectKey(asked.namespace, companionName);
    const actual = companion ? await look.observed(companion) : undefined;
    const rendering = live && (await look.rendering(live));
    const findings = explainCompanion({ ...asked, live, actual, rendering }, view);
    const planned = entries.find((each) => each.source === asked.source && each.companion === companion);
    const entry =
      planned && isUnconfirmed(planned) ? entryMeeting(planned, actual, look.renderings, view) : planned;
    const width = terminalWidth(io.stdout);
    await print(io, explanationInWords({ source: asked.source, companion, findings, entry }, width));
    return findings.every(({ fails }) => fails === undefined) ? 0 : 1;
  });
}

interface Asked {
  readonly source: ObjectKey;
  readonly namespace: string;
  /** Only if a companion was named. */
  readonly name?: string;
}

/** The key may be that of a source, of a companion, or of a companion that should be there. */
async function whichCompanion(key: ObjectKey, target: string | undefined, look: Look): Promise<Asked> {
  const { view } = look;
  if (target !== undefined) return { source: key, namespace: target };
  const { namespace, name } = splitKey(key);
  const object = await look.observed(key);
  if (object?.request?.ok && object.request.value.targets !== undefined) {
    const targets = look.entries
      .filter(({ source }) => source === key)
      .flatMap(({ companion }) => (companion === undefined ? [] : splitKey(companion).namespace));
    const some = [...targets.slice(0, 5), ...(targets.length > 5 ? ['…'] : [])].join(', ');
    const which = targets.length === 0 ? 'and there is none' : some;
    throw new RunError(`${key} targets other namespaces (${which}): say which one with --namespace`, 2);
  }
  if (object?.request !== undefined) return { source: key, namespace };
  const named = object && sourceReference(object, view.settings.vocabulary);
  const wanting =
    view.claimants(key).find((source) => claims(source, key, view)) ??
    view.claimants(key).find(({ request }) => request?.ok && request.value.companionName === name);
  const source = named ?? wanting?.key;
  return source === undefined ? { source: key, namespace } : { source, namespace, name };
}
