import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { bulkInsert } from '../storage/bulk-insert.ts';
import type { Reader, Tx } from '../storage/database.ts';
import { inNumbers, inTexts } from '../storage/list-parameter.ts';
import { statement } from '../storage/statement.ts';
import { requireKey } from './key-length.ts';

/** A member or manager that was named before it arrived. */
export interface PendingReference {
  readonly id: number;
  readonly kind: 'member' | 'manager';
  /** The group that waits for a member, or the user who waits for a manager. */
  readonly resource_id: number;
  readonly reference: string;
  readonly reference_key: string;
}

/** Who waits. */
export interface Waiter {
  readonly sourceId: number;
  readonly kind: PendingReference['kind'];
  readonly resourceId: number;
  readonly now: string;
}

const selectSame = statement<{ kind: string; resource: number; references: string }, { reference: string }>(
  (db, place) =>
    db
      .selectFrom('pending_reference')
      .select('reference')
      .where('kind', '=', place('kind') as PendingReference['kind'])
      .where('resource_id', '=', place('resource'))
      .where('reference', 'in', inTexts(db, place('references'))),
);

const insertRows = bulkInsert('pending_reference', [
  'source_id',
  'kind',
  'resource_id',
  'reference',
  'reference_key',
  'created',
]);

/** As many as one group has members at most. */
const waitingPerSourceMax = 100_000;
/** Whoever has not come by then makes room when there is none. */
const waitingDaysMax = 90;
const dayMs = 24 * 60 * 60 * 1_000;

const countWaiting = statement<{ source: number; most: number }, { count: number }>((db, place) =>
  db
    .selectFrom((from) =>
      from
        .selectFrom('pending_reference')
        .select('id')
        .where('source_id', '=', place('source'))
        .limit(place('most'))
        .as('waiting'),
    )
    .select((select) => select.fn.countAll<number>().as('count')),
);

/** Throws `invalidValue` when more would wait for the source than may. */
async function makeRoom(tx: Tx, { sourceId, now }: Waiter, wanted: number): Promise<void> {
  const free = async () => {
    const [row] = await countWaiting(tx, { source: sourceId, most: waitingPerSourceMax });
    return waitingPerSourceMax - Number(row?.count);
  };
  if (wanted <= (await free())) return;
  const oldest = new Date(Date.parse(now) - waitingDaysMax * dayMs).toISOString();
  await tx
    .deleteFrom('pending_reference')
    .where('source_id', '=', sourceId)
    .where('created', '<', oldest)
    .execute();
  if (wanted <= (await free())) return;
  const detail = `More than ${waitingPerSourceMax} members and managers who are not there would be waited for; send these users first.`;
  throw new DomainError('invalidValue', detail);
}

/** Waits for each reference once; asking again for the same thing changes nothing. Throws `invalidValue` for one too long, and for too many. */
export async function insertPending(tx: Tx, waiter: Waiter, references: readonly string[]): Promise<void> {
  const { sourceId, kind, resourceId, now } = waiter;
  const wanted = { kind, resource: resourceId, references: JSON.stringify(references) };
  const held = new Set((await selectSame(tx, wanted)).map((row) => row.reference));
  const missing = [...new Set(references)].filter((reference) => !held.has(reference));
  for (const reference of missing)
    requireKey(kind === 'member' ? 'members.value' : 'manager.value', reference);
  if (missing.length > 0) await makeRoom(tx, waiter, missing.length);
  const row = { source_id: sourceId, kind, resource_id: resourceId, created: now };
  await insertRows(
    tx,
    missing.map((reference) => ({ ...row, reference, reference_key: canonicalKey(reference) })),
  );
}

type Wanted = { source: number; keys: string };

const selectPending = statement<Wanted, PendingReference>((db, place) =>
  db
    .selectFrom('pending_reference')
    .select(['id', 'kind', 'resource_id', 'reference', 'reference_key'])
    .where('source_id', '=', place('source'))
    .where('reference_key', 'in', inTexts(db, place('keys')))
    .orderBy('id'),
);

/** What waits for somebody with one of these canonical keys. */
export async function findPending(
  db: Reader,
  sourceId: number,
  keys: readonly string[],
): Promise<PendingReference[]> {
  return selectPending(db, { source: sourceId, keys: JSON.stringify(keys) });
}

const deleteOne = statement<{ id: number }, { id: number }>((db, place) =>
  db.deleteFrom('pending_reference').where('id', '=', place('id')).returning('id'),
);

/** Ends the waiting; false when another transaction was first. */
export async function deletePending(tx: Tx, id: number): Promise<boolean> {
  return (await deleteOne(tx, { id })).length === 1;
}

type Waiting = { kind: PendingReference['kind']; resource: number };

const deleteAllOf = statement<Waiting, never>((db, place) =>
  db
    .deleteFrom('pending_reference')
    .where('kind', '=', place('kind'))
    .where('resource_id', '=', place('resource')),
);

const deleteSomeOf = statement<Waiting & { references: string }, never>((db, place) =>
  db
    .deleteFrom('pending_reference')
    .where('kind', '=', place('kind'))
    .where('resource_id', '=', place('resource'))
    .where('reference', 'in', inTexts(db, place('references'))),
);

/** What a resource waited for is void once it says something else. */
export async function deletePendingOf(
  tx: Tx,
  kind: PendingReference['kind'],
  resourceId: number,
  references?: readonly string[],
): Promise<void> {
  if (references === undefined) await deleteAllOf(tx, { kind, resource: resourceId });
  else await deleteSomeOf(tx, { kind, resource: resourceId, references: JSON.stringify(references) });
}

const deleteManagersOf = statement<{ ids: string }, never>((db, place) =>
  db
    .deleteFrom('pending_reference')
    .where('kind', '=', 'manager')
    .where('resource_id', 'in', inNumbers(db, place('ids'))),
);

/** The managers whom these users wait for are void, whichever source named them: somebody has decided since. */
export async function deletePendingManagers(tx: Tx, userIds: readonly number[]): Promise<void> {
  if (userIds.length > 0) await deleteManagersOf(tx, { ids: JSON.stringify(userIds) });
}
