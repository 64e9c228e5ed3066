import { type Clock, timestamp } from '../clock.ts';
import { machineContext } from '../directory/context.ts';
import { saveUsers } from '../directory/save-users.ts';
import { findUsersLastEndedBy } from '../directory/state-change-store.ts';
import type { User } from '../directory/user.ts';
import { selectUsers } from '../directory/user-store.ts';
import { DomainError } from '../errors.ts';
import type { Configuration, Configurations } from '../settings/configuration.ts';
import type { Database, Tx } from '../storage/database.ts';
import { lockRows } from '../storage/row-lock.ts';
import { isActive, type RunStatus } from './imports.ts';
import { listDisabled } from './plan-store.ts';
import { findRun } from './run-store.ts';

export interface ReEnableParts {
  readonly database: Database;
  readonly configurations: Configurations;
  readonly clock: Clock;
}

/** What became of the people whom a run had disabled. */
export interface ReEnabled {
  readonly enabled: number;
  /** Left as they are: archived, active already, or disabled by somebody else since. */
  readonly left: number;
}

const usersAtOnce = 100;

/**
 * Makes everyone active again whom the run disabled and nobody has touched since in that respect. Throws `notFound`, and
 * `invalidValue` for a run that is not over, or whose records are not kept any more. Killed in between, it can be called again.
 */
export async function reEnable(parts: ReEnableParts, runId: number): Promise<ReEnabled> {
  await requireOver(parts.database, runId);
  const configuration = await parts.configurations.current();
  let [after, enabled, seen] = [0, 0, 0];
  for (;;) {
    const rows = await listDisabled(parts.database.read, runId, { after, limit: usersAtOnce });
    const last = rows.at(-1);
    if (last === undefined) return { enabled, left: seen - enabled };
    after = last.seq;
    seen += rows.length;
    const ids = rows.flatMap((row) => row.resource_id ?? []);
    enabled += await parts.database.write((tx) => enableSome(parts, tx, { runId, ids, configuration }));
  }
}

async function requireOver({ read }: Database, runId: number): Promise<void> {
  const run = await findRun(read, runId);
  if (run === undefined) throw new DomainError('notFound', `There is no import with the id ${runId}.`);
  if (isActive(run.status as RunStatus) || run.status === 'awaiting-approval') {
    const detail = `Import ${runId} is ${run.status}; cancel it before you undo what it has done.`;
    throw new DomainError('invalidValue', detail);
  }
  if (run.archive !== null) return;
  const detail = `The records of import ${runId} are not kept any more (setting archiveRunsKept).`;
  throw new DomainError('invalidValue', detail);
}

interface Some {
  readonly runId: number;
  readonly ids: readonly number[];
  readonly configuration: Configuration;
}

async function enableSome(
  { clock }: ReEnableParts,
  tx: Tx,
  { runId, ids, configuration }: Some,
): Promise<number> {
  await lockRows(tx, 'user', [...ids]);
  // Whoever runs the command owns the data folder; no account is known.
  const context = machineContext(configuration, { kind: 'administrator', id: null }, timestamp(clock));
  const ended = await findUsersLastEndedBy(tx, runId, ids);
  const users = (await selectUsers(tx, ids, null)).filter(
    (user) => user.state === 'inactive' && ended.has(user.id),
  );
  await saveUsers(tx, context, users.map(activated));
  return users.length;
}

function activated(before: User) {
  return { before, next: { ...before.resource, active: true }, mode: 'patch' as const };
}
