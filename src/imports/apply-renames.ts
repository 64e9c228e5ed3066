import type { Application } from './application.ts';
import { refuseRows } from './apply-batch.ts';
import { applyChain } from './apply-users.ts';
import { listNextChain } from './plan-store.ts';
import { isRecordError } from './record-error.ts';

/** Applies people who take each other's userNames, one chain or ring in one transaction: all of it or nothing. */
export async function applyRenames(application: Application): Promise<void> {
  const { database, run, writer, signal } = application;
  for (;;) {
    signal.throwIfAborted();
    const rows = await listNextChain(database.read, run.id, writer.progress.cursor);
    const cursor = rows[0]?.chain ?? 0;
    if (rows.length === 0) return;
    try {
      await writer.commit(async (tx) => ({
        ...(await applyChain(application, tx, rows)),
        cursor,
        done: rows.length,
      }));
    } catch (error) {
      if (!isRecordError(error)) throw error;
      await refuseRows(application, rows, error, cursor);
    }
  }
}
