import type { DirectoryContext } from '../directory/context.ts';
import { findArchived } from '../directory/find-users-store.ts';
import { type ManagerOutcome, resolveManagers } from '../directory/manager.ts';
import { findLinks } from '../directory/source-link-store.ts';
import type { Tx } from '../storage/database.ts';
import type { Application } from './application.ts';
import { findPlannedRecords, type PlannedRecord } from './plan-store.ts';
import type { UserPayload } from './plan-users.ts';
import type { Run } from './run-store.ts';

/** The managers that a batch of records names. */
export interface ManagerLookup {
  /** The manager's id; null for none any more; undefined when nothing is said, or nobody found. */
  idFor(payload: UserPayload): number | null | undefined;
  /** A manager is named who is not found, or not for certain. */
  isOpen(payload: UserPayload): boolean;
  outcomeFor(payload: UserPayload): ManagerOutcome;
  /** The manager is in the file, and could not be created. */
  hasFailed(payload: UserPayload): boolean;
}

type Named = readonly { readonly payload: UserPayload }[];

/**
 * Managers given by an `@id` of this file, whose people have their ids already even if they come later. Others, those of
 * an earlier file among them, whose `@id` may become another one, stay open until everyone is written: so nothing depends
 * on the size of batches.
 */
export async function findManagersInFile({ run }: Application, tx: Tx, users: Named): Promise<ManagerLookup> {
  const { found, failed } = await findPlanned(run, tx, valuesOf(users));
  return lookup({ found: await withoutArchived(tx, found), failed }, new Map());
}

/** Managers given by an `@id`, else by the rules that hold for SCIM. */
export async function findManagers(
  { run }: Application,
  tx: Tx,
  context: DirectoryContext,
  users: Named,
): Promise<ManagerLookup> {
  const values = valuesOf(users);
  const known = await findById(run, tx, values);
  const open = values.filter((value) => !known.found.has(value) && !known.failed.has(value));
  return lookup(known, open.length === 0 ? new Map() : await resolveManagers(tx, context, open));
}

function valuesOf(users: Named): string[] {
  return [...new Set(users.flatMap(({ payload }) => payload.manager ?? []))];
}

interface KnownById {
  readonly found: ReadonlyMap<string, number>;
  readonly failed: ReadonlySet<string>;
}

async function findById(run: Run, tx: Tx, values: readonly string[]): Promise<KnownById> {
  const { found, failed } = await findPlanned(run, tx, values);
  const unplanned = values.filter((value) => !found.has(value) && !failed.has(value));
  for (const link of await findLinks(tx, run.sourceId, 'User', unplanned)) {
    found.set(link.external_id, link.resource_id);
  }
  return { found: await withoutArchived(tx, found), failed };
}

async function findPlanned(run: Run, tx: Tx, values: readonly string[]) {
  const found = new Map<string, number>();
  const failed = new Set<string>();
  for (const record of await findPlannedRecords(tx, run.id, values)) {
    const id = plannedId(record, run.firstUserId);
    if (record.record_id === null) continue;
    if (id !== undefined) found.set(record.record_id, id);
    else if (record.action === 'failed') failed.add(record.record_id);
  }
  return { found, failed };
}

/** Since the plan was made somebody else may have archived one of them. */
async function withoutArchived(tx: Tx, found: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  const gone = new Set(await findArchived(tx, [...found.values()]));
  return new Map([...found].filter(([, id]) => !gone.has(id)));
}

function lookup({ found, failed }: KnownById, outcomes: ReadonlyMap<string, ManagerOutcome>): ManagerLookup {
  const outcomeFor = ({ manager }: UserPayload): ManagerOutcome => {
    const id = found.get(manager ?? '');
    return id === undefined ? (outcomes.get(manager ?? '') ?? { kind: 'none' }) : { kind: 'found', id };
  };
  return {
    outcomeFor,
    hasFailed: ({ manager }) => failed.has(manager ?? ''),
    idFor: (payload) => {
      if (payload.manager === undefined || payload.manager === null) return payload.manager;
      const outcome = outcomeFor(payload);
      return outcome.kind === 'found' ? outcome.id : undefined;
    },
    isOpen: (payload) => typeof payload.manager === 'string' && outcomeFor(payload).kind !== 'found',
  };
}

/** Records in error stand for nobody, unless for someone who exists all the same. */
function plannedId({ action, ordinal, resource_id }: PlannedRecord, firstUserId: number): number | undefined {
  if (resource_id !== null) return action === 'archive' ? undefined : resource_id;
  if (ordinal === null || action === 'failed') return undefined;
  return firstUserId + ordinal;
}
