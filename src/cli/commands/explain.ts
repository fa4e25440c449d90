import { explanationInWords, type Invocation } from '../../inspect/explanation.ts';
import type { Look } from '../../inspect/inspection.ts';
import { type ObjectKey, objectKey, parseKey, splitKey } from '../../kube/api/object-key.ts';
import { explainCompanion } from '../../mirror/explain/explain.ts';
import type { Entry } from '../../mirror/explain/inventory.ts';
import { entryMeeting, isUnconfirmed } from '../../mirror/explain/live-reads.ts';
import { type ObservedConfigMap, sourceReference } from '../../mirror/observe/observed-config-map.ts';
import { isRevision } from '../../mirror/observe/revision.ts';
import { claims } from '../../mirror/plan/claims.ts';
import { ownCommand, RunError, UsageError } from '../errors.ts';
import type { EXPLAIN_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { kubectlFlags } from '../flags/printed-flags.ts';
import { type ProcessIo, print, terminalWidth } from '../io.ts';
import { clusterFor } from '../session/from-flags.ts';
import { inspecting } from '../session/inspection-session.ts';
import { keyNamed, namespaceOf } from '../session/scope.ts';

/**
 * `mirror-controller explain`: why a companion is as it is. Resolves to 0 if it is in sync, else to
 * 1 (SPEC C8).
 */
export async function explain(
  flags: FlagValues<typeof EXPLAIN_FLAGS>,
  io: ProcessIo,
  [name]: readonly string[],
  invocation: Invocation,
): Promise<number> {
  if (name === undefined) throw new UsageError('explain: name a source or a companion, as NAMESPACE/NAME');
  const cluster = clusterFor(flags, io);
  const key = keyNamed('explain', name, namespaceOf(undefined, cluster));
  return inspecting(cluster, flags, io, async (inspection, signal) => {
    const look = await inspection.look(signal);
    const { view, entries } = look;
    const asked = await whichCompanion(name, key, flags.namespace, look);
    const live = await look.observed(asked.source);
    const request = live?.request?.ok ? live.request.value : undefined;
    const companionName = asked.name ?? request?.companionName;
    const there = entries.filter(({ source }) => source === asked.source);
    const companion =
      companionName === undefined
        ? there.find((each) => each.companion && splitKey(each.companion).namespace === asked.namespace)
            ?.companion
        : objectKey(asked.namespace, companionName);
    const actual = companion ? await look.observed(companion) : undefined;
    const rendering = live && (await look.rendering(live));
    const findings = explainCompanion({ ...asked, live, actual, rendering }, view);
    const planned = there.find(
      (each) => each.companion === companion || (companion === undefined && each.state === 'invalid'),
    );
    const entry =
      planned && isUnconfirmed(planned) ? entryMeeting(planned, actual, look.renderings, view) : planned;
    const caller = { ...invocation, kubectlFlags: kubectlFlags(flags), width: terminalWidth(io.stdout) };
    const explanation = { source: asked.source, companion, findings, entry };
    await print(io, explanationInWords(explanation, caller));
    return findings.every(({ fails }) => fails === undefined) ? 0 : 1;
  });
}

interface Asked {
  readonly source: ObjectKey;
  readonly namespace: string;
  /** Only if a companion was named. */
  readonly name?: string;
}

/**
 * The words may name a source, a companion, or a companion that should be there. A name without a
 * namespace is in the context's, or if there is none of that name, in `target`, as with kubectl.
 */
async function whichCompanion(
  words: string,
  key: ObjectKey,
  target: string | undefined,
  look: Look,
): Promise<Asked> {
  const object = await look.observed(key);
  if (target === undefined) return companionAt(key, object, look);
  if (object !== undefined) {
    const source = object.request === undefined && sourceOf(object, look);
    return { source: source || key, namespace: target };
  }
  if (parseKey(words) !== undefined) return { source: key, namespace: target };
  const there = objectKey(target, words);
  return companionAt(there, await look.observed(there), look);
}

/** @throws RunError if it is a revision */
function sourceOf(object: ObservedConfigMap, { view }: Look): ObjectKey | undefined {
  const { vocabulary } = view.settings;
  const source = sourceReference(object, vocabulary);
  if (source !== undefined && isRevision(object, vocabulary)) {
    const what = `${object.key} is a revision: it keeps an earlier content of ${source}`;
    throw new RunError(`${what}\nSee ${ownCommand('history', source)}`, 2);
  }
  return source;
}

/** @throws RunError if the key is a source's that has no companion beside it, or a revision's */
function companionAt(key: ObjectKey, object: ObservedConfigMap | undefined, look: Look): Asked {
  const { view } = look;
  const { namespace, name } = splitKey(key);
  if (object?.request?.ok && object.request.value.targets !== undefined) {
    const targets = look.entries
      .filter(({ source }) => source === key)
      .flatMap(({ companion }) => (companion === undefined ? [] : splitKey(companion).namespace));
    const some = [...targets.slice(0, 5), ...(targets.length > 5 ? ['…'] : [])].join(', ');
    const which = targets.length === 0 ? 'and there is none' : some;
    const example = ownCommand('explain', key, '--namespace', targets[0] ?? 'NAMESPACE');
    throw new RunError(`${key} targets other namespaces (${which}): name one, for example\n  ${example}`, 2);
  }
  if (object?.request !== undefined) return { source: key, namespace };
  const named = object && sourceOf(object, look);
  const wanting = view.claimants(key).find((source) => claims(source, key, view))?.key;
  const isNamedSo = ({ companion }: Entry) => companion !== undefined && splitKey(companion).name === name;
  const source = named ?? wanting ?? look.entries.find(isNamedSo)?.source;
  return source === undefined ? { source: key, namespace } : { source, namespace, name };
}
