import { randomBytes } from 'node:crypto';
import { findLiveUsers } from '../directory/find-users-store.ts';
import { setPasswordHash } from '../directory/user-store.ts';
import type { Application } from './application.ts';
import { clearPasswords, listWaiting, type PlanRow } from './plan-store.ts';
import { passwordContext } from './plan-users.ts';

/** Hashes take tens of milliseconds each, so few share a transaction: little is done twice after a kill. */
const rowsAtOnce = 8;
const randomPasswordBytes = 24;

/** Gives new users their passwords. They are hashed outside of transactions, and leave the plan as they are set. */
export async function applyPasswords(application: Application): Promise<void> {
  const { database, run, writer, signal } = application;
  for (;;) {
    signal.throwIfAborted();
    const after = writer.progress.cursor;
    const rows = await listWaiting(database.read, run.id, { phase: 'passwords', after, limit: rowsAtOnce });
    if (rows.length === 0) return;
    const hashes = await Promise.all(rows.map((row) => hashFor(application, row)));
    await writer.commit(async (tx) => {
      const ids = rows.map((row) => run.firstUserId + (row.ordinal ?? 0));
      const live = new Set((await findLiveUsers(tx, ids)).map((user) => user.id));
      for (const [index, id] of ids.entries()) {
        if (live.has(id)) await setPasswordHash(tx, id, hashes[index] ?? '');
      }
      const seqs = rows.map((row) => row.seq);
      await clearPasswords(tx, run.id, seqs);
      return { counts: { passwordsSet: live.size }, cursor: seqs.at(-1) ?? 0, done: rows.length };
    });
  }
}

function hashFor({ run, hasher, secretBox }: Application, row: PlanRow): Promise<string> {
  const sealed = row.sealed_password;
  if (sealed === null) return hasher.hash(randomBytes(randomPasswordBytes).toString('base64url'));
  return hasher.hash(secretBox.open(sealed, passwordContext(run.id, row.seq)));
}
