import { archiveUser } from '../directory/archive-user.ts';
import { saveUsers } from '../directory/save-users.ts';
import { selectUsers } from '../directory/user-store.ts';
import type { Tx } from '../storage/database.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import { type Application, contextOf } from './application.ts';
import type { PlanRow } from './plan-store.ts';
import { missingDigest } from './record-digest.ts';
import type { Step } from './run-writer.ts';

/** Disables or archives people of the source who are not in the file. */
export async function applyAbsentRows(
  application: Application,
  tx: Tx,
  rows: readonly PlanRow[],
): Promise<Step> {
  const { run } = application;
  const context = contextOf(application);
  const isArchived = new Set(rows.filter((row) => row.action === 'archive').map((row) => row.resource_id));
  const ids = rows.flatMap((row) => row.resource_id ?? []);
  await lockInPassing(tx, 'user', ids);
  // Since the plan was made the user may have got another owner, or may be gone.
  const users = (await selectUsers(tx, ids, run.sourceId)).filter(
    (user) => user.ownerSourceId === run.sourceId && user.state !== 'archived' && !user.doNotSynchronise,
  );
  const ending = users.filter((user) => isArchived.has(user.id));
  for (const user of ending) await archiveUser(tx, context, user);
  const disabling = users.filter((user) => !isArchived.has(user.id) && user.state === 'active');
  const changes = disabling.map((before) => ({
    before,
    next: { ...before.resource, active: false },
    mode: 'patch' as const,
    digest: missingDigest,
  }));
  await saveUsers(tx, context, changes);
  return { counts: { archived: ending.length, disabled: disabling.length } };
}
