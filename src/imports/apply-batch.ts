import type { Tx } from '../storage/database.ts';
import type { Application } from './application.ts';
import { BatchSize } from './batch-size.ts';
import type { ApplyPhase } from './imports.ts';
import { listWaiting, type PlanRow, settleRow } from './plan-store.ts';
import { isRecordError, toIssue } from './record-error.ts';
import type { Step } from './run-writer.ts';

export type ApplyRows = (application: Application, tx: Tx, rows: readonly PlanRow[]) => Promise<Step>;

/** Applies all rows that wait for the phase, in batches that each take a transaction of about ten milliseconds. */
export async function applyWaiting(
  application: Application,
  phase: ApplyPhase,
  applyRows: ApplyRows,
): Promise<void> {
  const { database, run, writer, signal } = application;
  const size = new BatchSize();
  for (;;) {
    signal.throwIfAborted();
    const rows = await listWaiting(database.read, run.id, {
      phase,
      after: writer.progress.cursor,
      limit: size.rows,
    });
    if (rows.length === 0) return;
    await applyBatch(application, rows, applyRows, size);
  }
}

/** A batch in which one row is refused is applied row by row: the rest goes through. */
async function applyBatch(
  application: Application,
  rows: readonly PlanRow[],
  applyRows: ApplyRows,
  size: BatchSize,
): Promise<void> {
  try {
    await application.writer.commit(async (tx) => {
      const startedMs = performance.now();
      const step = await applyRows(application, tx, rows);
      size.note(rows.length, performance.now() - startedMs);
      return { ...step, cursor: rows.at(-1)?.seq ?? 0, done: rows.length };
    });
  } catch (error) {
    if (!isRecordError(error)) throw error;
    if (rows.length === 1) return refuseRows(application, rows, error);
    for (const row of rows) {
      application.signal.throwIfAborted();
      await applyBatch(application, [row], applyRows, size);
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
