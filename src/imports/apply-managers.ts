import { type ManagerOutcome, managerError } from '../directory/manager.ts';
import { saveUsers } from '../directory/save-users.ts';
import { forgetDigests } from '../directory/source-link-store.ts';
import type { User } from '../directory/user.ts';
import type { UserChange } from '../directory/user-draft.ts';
import { selectUsers } from '../directory/user-store.ts';
import type { Tx } from '../storage/database.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import { type Application, contextOf } from './application.ts';
import { applyWaiting } from './apply-batch.ts';
import { needsPassword, type UserRow } from './apply-users.ts';
import type { Counts, Issue } from './imports.ts';
import { findManagers } from './manager-lookup.ts';
import { ringsWarnings } from './manager-rings.ts';
import { listReports } from './match-store.ts';
import { listFailedOrdinals, moveRows, type PlanRow, setAction } from './plan-store.ts';
import type { UserPayload } from './plan-users.ts';
import { issueOf } from './record-error.ts';
import type { Step } from './run-writer.ts';

const failedAtOnce = 500;
const failedManager = 'The manager is in the file, but could not be created; the user has none.';

/** Managers who were not there yet when their people were written; those who still are not become issues. */
export async function applyManagers(application: Application): Promise<void> {
  await leaveFailedManagers(application);
  await applyWaiting(application, 'managers', applyManagerRows);
  const { created, updated } = application.writer.progress.counts;
  if (created + updated === 0 || application.run.options?.syncManagers === false) return;
  const warnings = await ringsWarnings(application.database.read, application.run);
  if (warnings.length > 0) await application.writer.commit(async () => ({ warnings }));
}

async function applyManagerRows(application: Application, tx: Tx, rows: readonly PlanRow[]): Promise<Step> {
  const { run } = application;
  const context = contextOf(application);
  const users = await findUsers(application, tx, rows);
  const managers = await findManagers(application, tx, context, users);
  const issues: Issue[] = [];
  const given: { readonly row: PlanRow; readonly change: UserChange }[] = [];
  const withoutManager: number[] = [];
  for (const { row, payload, stored } of users) {
    const outcome = managers.outcomeFor(payload);
    if (managers.hasFailed(payload)) {
      // The same as for those who were written before it failed: none, whatever the order of the file.
      issues.push(issueOf(row, 'managerNotFound', failedManager));
      if (stored !== undefined) given.push({ row, change: toChange(stored, null) });
      if (stored !== undefined) withoutManager.push(stored.id);
    } else if (outcome.kind !== 'found') {
      issues.push(noManager(row, payload, outcome));
      if (stored !== undefined) withoutManager.push(stored.id);
    } else if (stored !== undefined) {
      given.push({ row, change: { ...toChange(stored, outcome.id), ...digestOf(row) } });
    }
  }
  const saved = await saveUsers(
    tx,
    context,
    given.map(({ change }) => change),
  );
  await forgetDigests(tx, run.sourceId, withoutManager);
  const changed = given.filter((_, index) => saved[index]?.outcome === 'updated').map(({ row }) => row);
  const seqs = users.filter(needsPassword).map(({ row }) => row.seq);
  await moveRows(tx, run.id, { seqs, phase: 'passwords' });
  return { issues, counts: await countUndecided(application, tx, rows, changed) };
}

/** Only now the user is all that the record says. */
function digestOf({ digest }: PlanRow): Pick<UserChange, 'digest'> {
  return digest === null ? {} : { digest };
}

function noManager(row: PlanRow, { manager }: UserPayload, outcome: ManagerOutcome): Issue {
  const { detail } = managerError(manager ?? '', outcome);
  return issueOf(row, outcome.kind === 'none' ? 'managerNotFound' : 'managerAmbiguous', detail);
}

/** Of those in whom nothing else has changed, only now it is known whether they are the same. */
async function countUndecided(
  { run }: Application,
  tx: Tx,
  rows: readonly PlanRow[],
  changed: readonly PlanRow[],
): Promise<Partial<Counts>> {
  const undecided = rows.filter((row) => row.action === 'unchanged');
  const updated = undecided.filter((row) => changed.includes(row));
  await setAction(
    tx,
    run.id,
    updated.map((row) => row.seq),
    'update',
  );
  return { updated: updated.length, unchanged: undecided.length - updated.length };
}

interface WaitingUser extends UserRow {
  readonly stored: User | undefined;
}

/** `before` is as the row was planned: undefined for one whom this run has created. */
async function findUsers({ run }: Application, tx: Tx, rows: readonly PlanRow[]): Promise<WaitingUser[]> {
  const idOf = (row: PlanRow) => row.resource_id ?? run.firstUserId + (row.ordinal ?? 0);
  await lockInPassing(tx, 'user', rows.map(idOf));
  const users = await selectUsers(tx, rows.map(idOf), run.sourceId);
  const byId = new Map(users.filter((user) => user.state !== 'archived').map((user) => [user.id, user]));
  return rows.map((row) => {
    const stored = byId.get(idOf(row));
    const payload = JSON.parse(row.payload ?? '{}') as UserPayload;
    return { row, payload, stored, before: row.resource_id === null ? undefined : stored };
  });
}

function toChange(before: User, managerId: number | null): UserChange {
  return { before, next: before.resource, mode: 'patch', managerId };
}

/** People were given a manager whom the run was to create, and could not. */
async function leaveFailedManagers(application: Application): Promise<void> {
  const { database, run, writer, signal } = application;
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const failed = await listFailedOrdinals(database.read, run.id, after, failedAtOnce);
    const last = failed.at(-1);
    if (last === undefined) return;
    after = last.seq;
    const managerIds = failed.map(({ ordinal }) => run.firstUserId + ordinal);
    const reports = await listReports(database.read, managerIds);
    if (reports.length > 0) await writer.commit((tx) => leaveManagers(application, tx, reports));
  }
}

async function leaveManagers(application: Application, tx: Tx, reports: readonly number[]): Promise<Step> {
  await lockInPassing(tx, 'user', reports);
  const users = await selectUsers(tx, reports, application.run.sourceId);
  const changes = users.map((user) => toChange(user, null));
  await saveUsers(tx, contextOf(application), changes);
  await forgetDigests(tx, application.run.sourceId, reports);
  const issues = users.map(({ resource }) => ({
    line: null,
    recordId: typeof resource.externalId === 'string' ? resource.externalId : String(resource.userName),
    code: 'managerNotFound' as const,
    message: failedManager,
  }));
  return { issues };
}
