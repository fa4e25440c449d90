import { readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { changesOf } from '../../inspect/changes.ts';
import type { Look } from '../../inspect/inspection.ts';
import { ManifestError, type ManifestFile, type Manifests, readManifests } from '../../inspect/manifests.ts';
import {
  actionSummary,
  asData,
  asTableRows,
  inNamespace,
  inOrder,
  type Row,
  rowOf,
} from '../../inspect/report.ts';
import { paragraph, renderTable } from '../../inspect/table.ts';
import { RunError, readFailure, UsageError } from '../errors.ts';
import type { PLAN_FLAGS } from '../flags/command-flags.ts';
import type { FlagValues } from '../flags/flag.ts';
import { type ProcessIo, print, terminalWidth } from '../io.ts';
import { clusterFor } from '../session/from-flags.ts';
import { inspecting } from '../session/inspection-session.ts';
import { namespaceOf, requireNamespace } from '../session/scope.ts';

/**
 * `mirror-controller plan`: what `run` would do. Resolves to 0 if that is nothing, else to 1
 * (SPEC C2).
 */
export async function plan(flags: FlagValues<typeof PLAN_FLAGS>, io: ProcessIo): Promise<number> {
  const cluster = clusterFor(flags, io);
  const namespace = namespaceOf(flags.namespace, cluster);
  const manifests = await manifestsOf(flags.filename ?? [], namespace, io);
  const { passedOver } = manifests;
  if (passedOver.length > 0) {
    io.stderr.write(`ignored, since only ConfigMaps and Namespaces count: ${passedOver.join(', ')}\n`);
  }
  const only = flags['all-namespaces'] ? undefined : flags.namespace;
  const rows = await inspecting(cluster, flags, io, async (inspection, signal) => {
    const look = await inspection.look(signal, { manifests, confirm: () => true });
    await requireNamespace({ keys: [], namespace: only }, look);
    return rowsOf(look, only);
  });
  await print(io, asData(rows, flags.output) ?? asTable(rows, io));
  return rows.every(({ action }) => action === 'none') ? 0 : 1;
}

/** What would change or cannot, without what is in sync. */
async function rowsOf(look: Look, namespace: string | undefined): Promise<readonly Row[]> {
  const entries = inOrder(look.entries).filter(
    (entry) => entry.state !== 'in sync' && (namespace === undefined || inNamespace(entry, namespace)),
  );
  const rows: Row[] = [];
  for (const entry of entries) {
    rows.push(rowOf(entry, entry.differences && (await changesOf(entry, look))));
  }
  return rows;
}

function asTable(rows: readonly Row[], { stdout }: ProcessIo): string {
  const options = { headers: ['NAME', 'COMPANION', 'ACTION', 'REASON'], width: terminalWidth(stdout) };
  const table = rows.length === 0 ? '' : `${renderTable(asTableRows(rows, 'action'), options)}\n`;
  return table + paragraph(actionSummary(rows), options.width);
}

async function manifestsOf(paths: readonly string[], namespace: string, io: ProcessIo): Promise<Manifests> {
  const files: ManifestFile[] = [];
  for (const path of paths) {
    try {
      if (path === '-') files.push({ name: 'standard input', text: await textOf(io) });
      else files.push({ name: path, text: readFileSync(path, 'utf8') });
    } catch (error) {
      if (io.signal.aborted) throw new RunError('stopped before the manifests were read', 2);
      throw new UsageError(`--filename ${path}: ${readFailure(error)}`);
    }
  }
  try {
    return readManifests(files, namespace);
  } catch (error) {
    if (error instanceof ManifestError) throw new UsageError(`--filename: ${error.message}`);
    throw error;
  }
}

/** The whole standard input. Rejects when the process is asked to stop. */
async function textOf({ stdin, signal }: ProcessIo): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, stdin)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
