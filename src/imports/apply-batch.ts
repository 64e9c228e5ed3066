import type { Tx } from '../storage/database.ts';
import type { Application } from './application.ts';
import { BatchSize } from './batch-size.ts';
import type { ApplyPhase } from './imports.ts';
import { listWaiting, type PlanRow, settleRow } from './plan-store.ts';
import { isRecordError, toIssue } from './record-error.ts';
import type { NextBatch, Step } from './run-writer.ts';

export type ApplyRows = (application: Application, tx: Tx, rows: readonly PlanRow[]) => Promise<Step>;

/** Batches of one transaction, at most: it ends sooner, by the time it takes. */
const batchesMax = 1_024;

/**
 * Applies all rows that wait for the phase, in batches of some ten milliseconds, of which as many share a transaction
 * as nobody else waits for.
 */
export async function applyWaiting(
  application: Application,
  phase: ApplyPhase,
  applyRows: ApplyRows,
): Promise<void> {
  const { run, writer, signal } = application;
  const size = new BatchSize();
  let shared = batchesMax;
  for (;;) {
    signal.throwIfAborted();
    let rows: readonly PlanRow[] = [];
    let from = 0;
    try {
      const next: NextBatch = async (tx, after) => {
        from = after;
        rows = await listWaiting(tx, run.id, { phase, after, limit: size.rows });
        return rows.length === 0 ? undefined : applyTimed(application, tx, rows, { applyRows, size });
      };
      if (await writer.commitSeries(next, { batchesMax: shared, signal })) return;
      shared = Math.min(shared * 2, batchesMax);
    } catch (error) {
      if (!isRecordError(error)) throw error;
      // Those before it were good, and are undone with it: they are done again by themselves.
      shared = 1;
      if (from === writer.progress.cursor) await applySingly(application, rows, applyRows);
    }
  }
}

async function applyTimed(
  application: Application,
  tx: Tx,
  rows: readonly PlanRow[],
  { applyRows, size }: { readonly applyRows: ApplyRows; readonly size: BatchSize },
): Promise<Step> {
  const startedMs = performance.now();
  const step = await applyRows(application, tx, rows);
  size.note(rows.length, performance.now() - startedMs, application.writer.isAlone);
  return { ...step, cursor: rows.at(-1)?.seq ?? 0, done: rows.length };
}

/** A batch in which one row is refused is applied row by row: the rest goes through. */
async function applySingly(
  application: Application,
  rows: readonly PlanRow[],
  applyRows: ApplyRows,
): Promise<void> {
  for (const row of rows) {
    application.signal.throwIfAborted();
    try {
      await application.writer.commit(async (tx) => {
        const step = await applyRows(application, tx, [row]);
        return { ...step, cursor: row.seq, done: 1 };
      });
    } catch (error) {
      if (!isRecordError(error)) throw error;
      await refuseRows(application, [row], error);
    }
  }
}

/** Makes issues of rows that the directory does not take, and goes past them. */
export async function refuseRows(
  { run, writer }: Application,
  rows: readonly PlanRow[],
  error: unknown,
  cursor = rows.at(-1)?.seq ?? 0,
): Promise<void> {
  await writer.commit(async (tx) => {
    for (const row of rows) await settleRow(tx, run.id, row.seq, 'failed');
    return { issues: rows.map((row) => toIssue(row, error)), cursor, done: rows.length };
  });
}
