import type { DocumentStore } from '../archive/archive.ts';
import type { Clock } from '../clock.ts';
import { timestamp } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { dropCheckpoint, promoteCheckpoint } from './checkpoint-store.ts';
import { applyPhases, isActive, type RunStatus } from './imports.ts';
import { clearPayloads, countWaiting, deleteIssues, deletePlanRows } from './plan-store.ts';
import { releaseRivals } from './rival-store.ts';
import {
  forgetArchive,
  forgetDocument,
  listArchived,
  listSettledDocuments,
  type RunChange,
} from './run-store.ts';
import type { RunWriter } from './run-writer.ts';

export interface FinishParts {
  readonly database: Database;
  readonly documents: DocumentStore;
  readonly clock: Clock;
}

const rowsAtOnce = 500;

/** What a run becomes when it is over. */
export function settled(status: RunStatus, now: string): RunChange {
  return { status, finished: now, phase: null, lease_owner: null, lease_until: null, retry_at: null };
}

/** The plan has been applied as far as it could be. Throws when a row came to a phase that was over by then. */
export async function completeRun({ database, clock }: FinishParts, writer: RunWriter): Promise<RunStatus> {
  await requireNoneWaiting(database, writer);
  const status = writer.progress.counts.issues === 0 ? 'completed' : 'completed-with-errors';
  await writer.update(async (tx) => {
    const now = timestamp(clock);
    await releaseRivals(tx);
    await promoteCheckpoint(tx, writer.claim.id, now);
    return { ...settled(status, now), message: null };
  });
  return status;
}

/** Rows keep the phase that they were done in, so one is lost where there are more than the phase left behind. */
async function requireNoneWaiting({ read }: Database, { claim, phases }: RunWriter): Promise<void> {
  for (const phase of applyPhases) {
    const lost = (await countWaiting(read, claim.id, phase)) - (phases[phase] ?? 0);
    if (lost > 0)
      throw new Error(`${lost} rows of the plan still wait for the phase ${phase}, which is over`);
  }
}

/**
 * Removes what runs that are over no longer need: documents in `drop/`, and what was to be written. Killed in between,
 * it is done again.
 */
export async function tidySettled({ database, documents }: FinishParts): Promise<void> {
  for (const { id, document } of await listSettledDocuments(database.read)) {
    await clearPlan(database, id);
    await documents.removeDocument(document);
    await database.write(async (tx) => {
      await dropCheckpoint(tx, id);
      await forgetDocument(tx, id);
    });
  }
}

async function clearPlan(database: Database, runId: number): Promise<void> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after;
    after = await database.writeStep((tx) => clearPayloads(tx, runId, from, rowsAtOnce));
  }
}

/** Keeps the newest `kept` archived documents of the source, with plans and issues, and the newest that was imported. */
export async function retainArchives(
  { database, documents }: FinishParts,
  sourceId: number,
  kept: number,
): Promise<void> {
  const runs = await listArchived(database.read, sourceId);
  const lastGood = runs.find((run) => run.status === 'completed' && run.dry_run === 0);
  for (const run of runs.slice(kept)) {
    const isOver = !isActive(run.status as RunStatus) && run.status !== 'awaiting-approval';
    if (run === lastGood || !isOver || run.archive === null) continue;
    for (const deleteSome of [deletePlanRows, deleteIssues]) {
      while (await database.write((tx) => deleteSome(tx, run.id)));
    }
    await documents.removeArchive(run.archive);
    await database.write((tx) => forgetArchive(tx, run.id));
  }
}
