import type { Tx } from '../storage/database.ts';
import { reserveIds } from '../storage/sequence-store.ts';
import type { Counts } from './imports.ts';
import { type RunChange, supersedeAwaiting } from './run-store.ts';

export interface PlannedRun {
  readonly id: number;
  readonly sourceId: number;
  readonly planned: Counts;
}

/**
 * What a run becomes when its plan is to be applied. Ids for everyone and every group that it creates are reserved now,
 * so that a run that is killed and resumed ends with the same ids as one that is not.
 */
export async function startApplying(
  tx: Tx,
  { id, sourceId, planned }: PlannedRun,
  now: string,
): Promise<RunChange> {
  await supersedeAwaiting(tx, { sourceId, runId: id, now });
  const { created, groupsCreated } = planned;
  return {
    status: 'applying',
    phase: 'groups',
    cursor: 0,
    done: 0,
    applied_from: now,
    first_user_id: created === 0 ? null : await reserveIds(tx, 'User', created),
    first_group_id: groupsCreated === 0 ? null : await reserveIds(tx, 'Group', groupsCreated),
    message: null,
  };
}
