import { archiveUser } from '../directory/archive-user.ts';
import { type SavedUser, saveUsers } from '../directory/save-users.ts';
import { forgetDigests } from '../directory/source-link-store.ts';
import type { User } from '../directory/user.ts';
import type { UserChange } from '../directory/user-draft.ts';
import { parkUserNames, selectUsers } from '../directory/user-store.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import type { Tx } from '../storage/database.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import { type Application, contextOf } from './application.ts';
import { applyMemberships, type SavedUserRow } from './apply-memberships.ts';
import { addCounts, type Counts, type Issue, noCounts } from './imports.ts';
import { findManagersInFile, type ManagerLookup } from './manager-lookup.ts';
import { moveRows, type PlanRow, setAction, settleRow } from './plan-store.ts';
import type { UserPayload } from './plan-users.ts';
import { applyProfileChange } from './profile-change.ts';
import { issueOf } from './record-error.ts';
import type { Step } from './run-writer.ts';

/** A plan row with what it carries and the user it is about. */
export interface UserRow {
  readonly row: PlanRow;
  readonly payload: UserPayload;
  readonly before: User | undefined;
}

/** Applies rows about users: attributes, units, memberships, and managers as far as they can be found yet. */
export function applyUserRows(application: Application, tx: Tx, rows: readonly PlanRow[]): Promise<Step> {
  return applyUsers(application, tx, rows, false);
}

/** The same for people who take each other's userNames. */
export function applyChain(application: Application, tx: Tx, rows: readonly PlanRow[]): Promise<Step> {
  return applyUsers(application, tx, rows, true);
}

async function applyUsers(
  application: Application,
  tx: Tx,
  rows: readonly PlanRow[],
  isChain: boolean,
): Promise<Step> {
  const context = contextOf(application);
  const { live, counts, issues, warnings } = await sortOut(application, tx, rows);
  const ending = live.filter(({ row }) => row.action === 'archive');
  for (const { before } of ending) if (before !== undefined) await archiveUser(tx, context, before);
  const saving = live.filter(({ row }) => row.action !== 'archive');
  const managers = await findManagersInFile(application, tx, saving);
  const changes = saving.map((user) => toChange(application, user, managers));
  if (isChain) await parkUserNames(tx, changes.flatMap(renamedId));
  const written = await saveUsers(tx, context, changes);
  const { moved, lacking } = await applyMemberships(
    application,
    tx,
    context,
    saving.map((user, index) => ({ ...user, ...written[index], id: written[index]?.id ?? 0 })),
  );
  const saved = written.map((user) => (moved.has(user.id) ? withMemberships(user) : user));
  await moveOn(application, tx, saving, managers);
  const without = await tellLacking(application, tx, lacking);
  // What their manager changes in them is counted when the manager is there.
  const isOpen = (user: UserRow, index: number) =>
    saved[index]?.outcome === 'unchanged' && managers.isOpen(user.payload);
  const undecided = saving.filter(isOpen).map(({ row }) => row.seq);
  await setAction(tx, application.run.id, undecided, 'unchanged');
  const outcome = saving.reduce(
    (sum, user, index) => (isOpen(user, index) ? sum : addCounts(sum, outcomeOf(user.row, saved[index]))),
    counts,
  );
  const totals = addCounts(outcome, { archived: ending.length });
  return { counts: totals, issues: [...issues, ...without], warnings };
}

/** Their groups were deleted, or could not be created: the next file with these records is not "unchanged". */
async function tellLacking(
  { run }: Application,
  tx: Tx,
  users: readonly SavedUserRow[],
): Promise<readonly Issue[]> {
  const ids = users.map((user) => user.id);
  await forgetDigests(tx, run.sourceId, ids);
  const message =
    'A group that the user is to be a member of was deleted, or could not be created, while the file was being imported; import it again.';
  return users.map(({ row }) => issueOf(row, 'unknownGroup', message));
}

/** Another group is a change, even if nothing of the user's own is another. */
function withMemberships(user: SavedUser): SavedUser {
  return user.outcome === 'unchanged' ? { ...user, outcome: 'updated' } : user;
}

interface Sorted {
  readonly live: readonly UserRow[];
  readonly counts: Counts;
  readonly issues: readonly Issue[];
  readonly warnings: readonly string[];
}

/** Between plan and apply others may have archived or adopted a user, or set "do not synchronise". */
async function sortOut({ run }: Application, tx: Tx, rows: readonly PlanRow[]): Promise<Sorted> {
  const ids = rows.flatMap((row) => row.resource_id ?? []);
  await lockInPassing(tx, 'user', ids);
  const users = new Map((await selectUsers(tx, ids, run.sourceId)).map((user) => [user.id, user]));
  const live: UserRow[] = [];
  const issues: Issue[] = [];
  const foreign: number[] = [];
  let skipped = 0;
  for (const row of rows) {
    const before = users.get(row.resource_id ?? 0);
    const isGone = row.resource_id !== null && (before === undefined || before.state === 'archived');
    if (isGone) {
      issues.push(
        issueOf(
          row,
          'recordGone',
          'The user was archived while the file was being imported; import it again.',
        ),
      );
      await settleRow(tx, run.id, row.seq, 'failed');
    } else if (before?.doNotSynchronise === true) {
      skipped += 1;
      await settleRow(tx, run.id, row.seq, 'skip');
    } else {
      const user = { row, before, payload: JSON.parse(row.payload ?? '{}') as UserPayload };
      const isLost = user.payload.state !== undefined && isForeign(before, run.sourceId);
      if (isLost) foreign.push(row.seq);
      live.push(isLost ? withoutState(user) : user);
    }
  }
  await setAction(tx, run.id, foreign, 'update');
  const warnings = foreign.length === 0 ? [] : [foreignWarning];
  return { live, issues, warnings, counts: { ...noCounts, skipped } };
}

const foreignWarning =
  'Another source took over users while the file waited; "active" of this file does not apply to them any more.';

function isForeign(user: User | undefined, sourceId: number): boolean {
  return user !== undefined && user.ownerSourceId !== null && user.ownerSourceId !== sourceId;
}

/** What is left to do with somebody whose state is the affair of another source by now. */
function withoutState({ row, payload, before }: UserRow): UserRow {
  const { state: _state, ...rest } = payload;
  return { row: { ...row, action: 'update' }, payload: rest, before };
}

function toChange(
  { run }: Application,
  { row, payload, before }: UserRow,
  managers: ManagerLookup,
): UserChange {
  const managerId = managers.idFor(payload);
  // Who still waits for a manager is not as the record says yet, and never will be if the run ends before.
  const digest = row.digest === null || managers.isOpen(payload) ? {} : { digest: row.digest };
  return {
    ...(before === undefined ? { id: run.firstUserId + (row.ordinal ?? 0) } : { before }),
    next: applyProfileChange(before?.resource, payload.change, payload.state),
    mode: 'patch',
    ...(managerId === undefined ? {} : { managerId }),
    ...digest,
  };
}

function renamedId({ before, next }: UserChange): number[] {
  if (before === undefined) return [];
  const isSame = canonicalKey(String(before.resource.userName)) === canonicalKey(String(next.userName));
  return isSame ? [] : [before.id];
}

/** Rows that are not done with this phase wait for the one that ends them. */
async function moveOn(
  { run }: Application,
  tx: Tx,
  users: readonly UserRow[],
  managers: ManagerLookup,
): Promise<void> {
  const waiting = users.filter(({ payload }) => managers.isOpen(payload));
  const others = users.filter((user) => !waiting.includes(user));
  await forgetDigests(
    tx,
    run.sourceId,
    waiting.flatMap(({ before }) => before?.id ?? []),
  );
  await moveRows(tx, run.id, { seqs: waiting.map(({ row }) => row.seq), phase: 'managers' });
  await moveRows(tx, run.id, {
    seqs: others.filter(needsPassword).map(({ row }) => row.seq),
    phase: 'passwords',
  });
}

export function needsPassword({ row, payload, before }: UserRow): boolean {
  return before === undefined && (row.sealed_password !== null || payload.randomPassword === true);
}

function outcomeOf({ action }: PlanRow, saved: SavedUser | undefined): Partial<Counts> {
  if (saved === undefined || saved.outcome === 'unchanged') return { unchanged: 1 };
  if (saved.outcome === 'created') return { created: 1 };
  if (action === 'reactivate') return { reactivated: 1 };
  return action === 'disable' ? { disabled: 1 } : { updated: 1 };
}
