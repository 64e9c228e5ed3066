import type { Tx } from '../storage/database.ts';
import type { Counts } from './imports.ts';

export interface CreatingRun {
  readonly id: number;
  readonly sourceId: number;
  readonly planned: Counts;
  /** When its plan was begun: what was there then is what it knows. */
  readonly plannedSince: string;
}

export interface Rival {
  readonly id: number;
  readonly isOver: boolean;
}

const rivalsMax = 100;

/**
 * A run of another source that creates people or groups, as this one does, and of which its plan cannot know: of two that
 * create the same, one would be refused what the other has made.
 */
export async function findRival(tx: Tx, run: CreatingRun): Promise<Rival | undefined> {
  if (run.planned.created === 0 && run.planned.groupsCreated === 0) return undefined;
  // Two plans that are complete at the same moment: the second waits here, and then sees the first.
  await tx
    .updateTable('sequence')
    .set((value) => ({ next: value.ref('next') }))
    .where('name', 'in', ['User', 'Group'])
    .execute();
  const rows = await tx
    .selectFrom('import_run')
    .select(['id', 'planned', 'finished'])
    .where('source_id', '<>', run.sourceId)
    .where('dry_run', '=', 0)
    .where('planned', 'is not', null)
    .where((is) => is.or([is('status', '=', 'applying'), is('finished', '>=', run.plannedSince)]))
    .orderBy('id', 'desc')
    .limit(rivalsMax)
    .execute();
  const rivals = rows.filter(({ planned }) => isAlike(run.planned, JSON.parse(planned ?? '{}')));
  const found = rivals.find(({ finished }) => finished === null) ?? rivals[0];
  return found && { id: found.id, isOver: found.finished !== null };
}

function isAlike(one: Counts, other: Partial<Counts>): boolean {
  const bothCreate = (name: 'created' | 'groupsCreated') => one[name] > 0 && (other[name] ?? 0) > 0;
  return bothCreate('created') || bothCreate('groupsCreated');
}

/** Runs that wait for another one to be over can be planned now. */
export async function releaseRivals(tx: Tx): Promise<void> {
  await tx
    .updateTable('import_run')
    .set({ retry_at: null })
    .where('status', '=', 'queued')
    .where('retry_at', 'is not', null)
    .execute();
}
