import type { Reader, Tx } from '../storage/database.ts';
import { isPostgres } from '../storage/list-parameter.ts';
import { waitNoMore } from '../storage/row-lock.ts';
import type { BrakeTable } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';

/** What one source has ended, and whether it is held. */
export interface BrakeState {
  readonly sourceId: number;
  /** Since the source was made. */
  readonly total: number;
  /** Minute since 1970 and how much was ended in it, for the last hour. */
  readonly recent: readonly (readonly [minute: number, count: number])[];
  readonly heldSince: string | null;
  readonly releasedUntil: string | null;
  readonly alarmedAt: string | null;
}

type BrakeRow = { [K in keyof BrakeTable]: BrakeTable[K] };

function toState(row: BrakeRow): BrakeState {
  return {
    sourceId: row.source_id,
    total: row.total,
    recent: JSON.parse(row.recent),
    heldSince: row.held_since,
    releasedUntil: row.released_until,
    alarmedAt: row.alarmed_at,
  };
}

const selectForChange = statement<{ source: number }, BrakeRow>((db, place) =>
  db
    .selectFrom('brake')
    .selectAll()
    .where('source_id', '=', place('source'))
    .$if(isPostgres(db), (brakes) => brakes.forNoKeyUpdate()),
);

const insertEmpty = statement<{ source: number }, never>((db, place) =>
  db
    .insertInto('brake')
    .values({ source_id: place('source'), total: 0, recent: '[]' })
    .onConflict((conflict) => conflict.doNothing()),
);

/** The state of the source, which nobody else can change until `tx` ends: two requests at once cannot both pass. */
export async function lockBrake(tx: Tx, sourceId: number): Promise<BrakeState> {
  waitNoMore(tx);
  const [row] = await selectForChange(tx, { source: sourceId });
  if (row !== undefined) return toState(row);
  await insertEmpty(tx, { source: sourceId });
  const [made] = await selectForChange(tx, { source: sourceId });
  return toState(made as BrakeRow);
}

type Counted = { source: number; total: number; recent: string; held: string | null; alarmed: string | null };

const updateCounts = statement<Counted, never>((db, place) =>
  db
    .updateTable('brake')
    .set({
      total: place('total'),
      recent: place('recent'),
      held_since: place('held'),
      alarmed_at: place('alarmed'),
    })
    .where('source_id', '=', place('source')),
);

export async function writeCounts(tx: Tx, state: BrakeState): Promise<void> {
  await updateCounts(tx, {
    source: state.sourceId,
    total: state.total,
    recent: JSON.stringify(state.recent),
    held: state.heldSince,
    alarmed: state.alarmedAt,
  });
}

/** Holds the source from `now` on, unless it is held or has been released; returns whether it was free until now. */
export async function holdSource(tx: Tx, sourceId: number, now: string): Promise<boolean> {
  await insertEmpty(tx, { source: sourceId });
  const held = await tx
    .updateTable('brake')
    .set({ held_since: now })
    .where('source_id', '=', sourceId)
    .where('held_since', 'is', null)
    .where((is) => is.or([is('released_until', 'is', null), is('released_until', '<=', now)]))
    .executeTakeFirst();
  return Number(held.numUpdatedRows) > 0;
}

/** Lets the source go on, without a limit until `until`. Returns since when it was held; null when it was not. */
export async function releaseSource(tx: Tx, sourceId: number, until: string): Promise<string | null> {
  const { heldSince } = await lockBrake(tx, sourceId);
  await tx
    .updateTable('brake')
    .set({ held_since: null, released_until: until, alarmed_at: null })
    .where('source_id', '=', sourceId)
    .execute();
  return heldSince;
}

export async function listBrakes(db: Reader): Promise<BrakeState[]> {
  const rows = await db.selectFrom('brake').selectAll().orderBy('source_id').execute();
  return rows.map((row) => toState(row));
}
