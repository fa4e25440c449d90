import type { ObjectKey } from '../kube/api/object-key.ts';
import { isCompanionOf } from '../mirror/companion/ownership.ts';
import { type Content, selectContent } from '../mirror/observe/content.ts';
import type { ObservedConfigMap } from '../mirror/observe/observed-config-map.ts';
import { isAsWritten, orderOf, shortChecksum, stageOf, writtenContent } from '../mirror/observe/revision.ts';
import { historyOf } from '../mirror/plan/desired.ts';
import type { Rendering } from '../mirror/render/rendering.ts';
import type { Vocabulary } from '../mirror/vocabulary.ts';
import { bytes, type Change, changeInWords, contentChanges, contentOf } from './changes.ts';
import type { Look } from './inspection.ts';
import { renderTable } from './table.ts';

/** What the table says of a content for each of its marks. */
const NOTES = {
  source: 'what the source says now',
  pinned: 'pinned',
  trying: 'its canary is not over',
  superseded: 'replaced before it left the canaries',
  failed: 'failed in a canary',
} as const;
const MARKS = Object.keys(NOTES) as readonly (keyof typeof NOTES)[];

/** One content of a source, in the output of `history`. The shape is public: docs/output.md. */
export interface HistoryRow {
  readonly checksum: string;
  /** Its place in the order; null: the source holds it, and it is not kept. */
  readonly revision: number | null;
  readonly marks: typeof MARKS;
  /** Size of all keys and values. */
  readonly bytes: number;
  /** How many companions hold it. */
  readonly companions: number;
  /** What it changed in the one before it; empty for the oldest, whose predecessor is unknown. */
  readonly differences: readonly Change[];
}

/** The contents of a source, the newest first. Reads each of them. */
export async function historyRows(source: ObservedConfigMap, look: Look): Promise<readonly HistoryRow[]> {
  const { view, body, renderings } = look;
  const { vocabulary } = view.settings;
  const { revisions } = historyOf(source, view);
  const isKept = revisions.some(({ digest }) => digest === source.digest);
  const request = source.request?.ok ? source.request.value : undefined;
  const pin = request?.rollout?.pin;
  const read = async (key: ObjectKey) => contentOf(await body(key));
  const own = await read(source.key);
  const contents = [
    ...(isKept ? [] : [{ of: source, content: request ? selectContent(own, request) : own }]),
    ...(await Promise.all(revisions.map(async (of) => ({ of, content: await read(of.key) })))),
  ];
  const holds = heldBy(renderings.get(source.key), vocabulary);
  const companions = view.referrers(source).filter((object) => isCompanionOf(object, source, vocabulary));
  return contents.map(({ of, content }, at) => {
    const before = contents[at + 1]?.content;
    const { digest } = of;
    const isOwn = digest === source.digest;
    const stage = stageOf(of, vocabulary);
    const marks = {
      source: isOwn,
      pinned: pin !== undefined && digest.startsWith(pin),
      trying: stage === 'trying' && isOwn,
      superseded: stage === 'trying' && !isOwn,
      failed: stage === 'failed',
    };
    return {
      checksum: digest,
      revision: of === source ? null : orderOf(of, vocabulary),
      marks: MARKS.filter((mark) => marks[mark]),
      bytes: sizeOf(content),
      companions: companions.filter((companion) => holds(companion, of)).length,
      differences: before === undefined ? [] : contentChanges(before, content),
    };
  });
}

/** Whether a companion holds a content, maybe rendered with earlier values. */
function heldBy(rendering: Rendering | undefined, vocabulary: Vocabulary) {
  return (companion: ObservedConfigMap, content: ObservedConfigMap): boolean => {
    const written = isAsWritten(companion, vocabulary) && writtenContent(companion, vocabulary);
    const present = rendering === undefined ? content : rendering.in(companion.namespace, content);
    return written === shortChecksum(content.digest) || companion.digest === present?.digest;
  };
}

function sizeOf({ data, binaryData }: Content): number {
  const sum = (entries: Content['data'], encoding: BufferEncoding) =>
    Object.entries(entries).reduce(
      (total, [key, value]) => total + key.length + Buffer.byteLength(value, encoding),
      0,
    );
  return sum(data, 'utf8') + sum(binaryData, 'base64');
}

export function historyTable(rows: readonly HistoryRow[], width: number): string {
  const headers = ['REVISION', 'CHECKSUM', 'SIZE', 'COMPANIONS', 'NOTE'];
  return renderTable(
    rows.map((row) => ({
      cells: [
        row.revision === null ? '<none>' : String(row.revision),
        shortChecksum(row.checksum),
        bytes(row.bytes),
        String(row.companions),
        row.marks.map((mark) => NOTES[mark]).join('; '),
      ],
      below: row.differences.map(changeInWords),
    })),
    { headers, width },
  );
}
