import { systemClock } from '../../clock/clock.ts';
import { changeInWords, contentChanges, contentOf } from '../../inspect/changes.ts';
import type { Look } from '../../inspect/inspection.ts';
import { paragraph } from '../../inspect/table.ts';
import { createConfigMapApi } from '../../kube/api/config-maps.ts';
import { type ObjectKey, splitKey } from '../../kube/api/object-key.ts';
import type { Cluster } from '../../kube/config/cluster.ts';
import { ApiError, isConflict, NetworkError } from '../../kube/errors.ts';
import { createTransport } from '../../kube/http/pooled-transport.ts';
import { commandInWords } from '../../mirror/explain/remedies.ts';
import { selectContent } from '../../mirror/observe/content.ts';
import type { ObservedConfigMap } from '../../mirror/observe/observed-config-map.ts';
import { shortChecksum } from '../../mirror/observe/revision.ts';
import { historyOf } from '../../mirror/plan/desired.ts';
import type { History } from '../../mirror/rollout/history.ts';
import { vocabularyOf } from '../../mirror/vocabulary.ts';
import { ownCommand, RunError } from '../errors.ts';
import type { UNDO_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { kubectlFlags } from '../flags/printed-flags.ts';
import { type ProcessIo, print, terminalWidth } from '../io.ts';
import { explain } from '../session/first-contact.ts';
import { clusterFor } from '../session/from-flags.ts';
import { inspectingSource } from '../session/scope.ts';
import { USER_AGENT } from '../version.ts';

/** Who has set the annotation, in the source's managed fields. */
const FIELD_MANAGER = 'kubectl-mirror';

/**
 * `mirror-controller undo`: pins an earlier content of a source, with the caller's own rights
 * (SPEC D5).
 */
export async function undo(
  flags: FlagValues<typeof UNDO_FLAGS>,
  io: ProcessIo,
  operands: readonly string[],
): Promise<void> {
  const choice = await inspectingSource('undo', operands, flags, io, (source, look) =>
    choose(source, flags.to, look),
  );
  const { pin, keepRevisions } = vocabularyOf(flags.domain);
  await annotate(choice.source, { [pin]: choice.short }, clusterFor(flags, io), io);
  const { key } = choice.source;
  const end = { verb: 'annotate', kind: 'configmap', ...splitKey(key), key: pin, value: undefined } as const;
  const width = terminalWidth(io.stdout);
  await print(
    io,
    [
      paragraph(`${key} is pinned to ${choice.short}: its companions will hold that content.`, width),
      ...choice.changes.map((line) => paragraph(`  ${line}`, width)),
      ...(choice.isKept ? [] : [paragraph(lossWarning(key, keepRevisions), width)]),
      `To let them follow the source again:\n  ${commandInWords(end)}${kubectlFlags(flags)}\n`,
    ].join(''),
  );
}

interface Choice {
  readonly source: ObservedConfigMap;
  /** Short checksum of the content to pin. */
  readonly short: string;
  /** Whether a revision keeps it, or will before the source changes. */
  readonly isKept: boolean;
  /** How it differs from what the source says. */
  readonly changes: readonly string[];
}

/** @throws RunError */
async function choose(source: ObservedConfigMap, to: string | undefined, look: Look): Promise<Choice> {
  const { key, request } = source;
  if (!request?.ok)
    throw new RunError(`${key} is invalid, so a pin would change nothing: ${request?.problem}`);
  const history = historyOf(source, look.view);
  const isOwn = to !== undefined && to.length >= 8 && source.digest.startsWith(to);
  const chosen = to === undefined ? history.previous : to.length < 8 ? undefined : history.find(to);
  if (chosen === undefined && !isOwn) throw new RunError(nothingToPin(history, to, look));
  const [own, pinned] = await Promise.all([look.body(key), look.body((chosen ?? source).key)]);
  const now = selectContent(contentOf(own), request.value);
  const then = chosen === undefined ? now : contentOf(pinned);
  const short = shortChecksum((chosen ?? source).digest);
  const isKept = (request.value.rollout?.keepRevisions ?? 0) > 0;
  return { source, short, isKept, changes: contentChanges(now, then).map(changeInWords) };
}

function lossWarning(source: ObjectKey, keepRevisions: string): string {
  return (
    `Warning: ${source} keeps no revisions, so its next edit loses this content, and its companions stay as they are ` +
    `then. Before that, set ${keepRevisions}=5.`
  );
}

function nothingToPin(
  { source: { key }, revisions }: History,
  to: string | undefined,
  { view }: Look,
): string {
  const { keepRevisions } = view.settings.vocabulary;
  if (revisions.length === 0) {
    return `${key} has no revisions; ${keepRevisions}=5 keeps its contents from now on`;
  }
  return to === undefined
    ? `${key} has no revision older than what its companions hold`
    : `${key} has no revision ${to}; write at least 8 digits of one that "${ownCommand('history', key)}" lists`;
}

/** @throws RunError */
async function annotate(
  { key, resourceVersion }: ObservedConfigMap,
  annotations: Readonly<Record<string, string>>,
  cluster: Cluster,
  io: ProcessIo,
): Promise<void> {
  const transport = createTransport(cluster, {
    clock: systemClock,
    userAgent: USER_AGENT,
    signal: io.signal,
  });
  try {
    const api = createConfigMapApi(transport, { fieldManager: FIELD_MANAGER });
    await api.patch(key, { metadata: { resourceVersion, annotations } });
  } catch (error) {
    if (isConflict(error)) throw new RunError(`${key} has just been changed; look at it, and try again`, 2);
    if (!(error instanceof ApiError || error instanceof NetworkError)) throw error;
    const lines = explain(error, cluster, `Give this user the right to patch ConfigMap ${key}.`);
    throw new RunError(lines.join('\n'), 2);
  } finally {
    await transport.close();
  }
}
