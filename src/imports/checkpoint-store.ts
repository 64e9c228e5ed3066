// Where a connector goes on next time: kept with the run that brings what was read up to there, and in force only once
// that run is completed, in the transaction that completes it.

import type { Reader, Tx } from '../storage/database.ts';

/** What a connector has left for its next run. */
export interface Checkpoint {
  /** The connector's kind. */
  readonly kind: string;
  /** Digest of what the connector was asked: a checkpoint means nothing to another configuration. */
  readonly digest: string;
  /** JSON. */
  readonly value: string;
}

/** Keeps the checkpoint until the run is over. */
export async function keepCheckpoint(
  tx: Tx,
  runId: number,
  { kind, digest, value }: Checkpoint,
): Promise<void> {
  await tx.insertInto('import_checkpoint').values({ run_id: runId, kind, digest, value }).execute();
}

/** Puts the checkpoint of a run in force, if it has one. */
export async function promoteCheckpoint(tx: Tx, runId: number, now: string): Promise<void> {
  const row = await tx
    .selectFrom('import_checkpoint')
    .innerJoin('import_run', 'import_run.id', 'import_checkpoint.run_id')
    .select(['source_id', 'kind', 'digest', 'value'])
    .where('run_id', '=', runId)
    .executeTakeFirst();
  if (row === undefined) return;
  await saveCheckpoint(tx, row.source_id, row, now);
  await dropCheckpoint(tx, runId);
}

/** Puts a checkpoint in force at once: there is nothing to import before it. */
export async function saveCheckpoint(
  tx: Tx,
  sourceId: number,
  { kind, digest, value }: Checkpoint,
  now: string,
): Promise<void> {
  const facts = { digest, value, saved: now };
  await tx
    .insertInto('connector_checkpoint')
    .values({ source_id: sourceId, kind, ...facts })
    .onConflict((conflict) => conflict.columns(['source_id', 'kind']).doUpdateSet(facts))
    .execute();
}

/** Forgets what a run that is over has not put in force. */
export async function dropCheckpoint(tx: Tx, runId: number): Promise<void> {
  await tx.deleteFrom('import_checkpoint').where('run_id', '=', runId).execute();
}

/** The checkpoint in force for a source and a kind of connector. */
export async function findCheckpoint(
  db: Reader,
  sourceId: number,
  kind: string,
): Promise<Checkpoint | undefined> {
  return db
    .selectFrom('connector_checkpoint')
    .select(['kind', 'digest', 'value'])
    .where('source_id', '=', sourceId)
    .where('kind', '=', kind)
    .executeTakeFirst();
}
