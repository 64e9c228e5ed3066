import { type Counts, noCounts } from './imports.ts';
import type { Tally } from './plan-store.ts';

/** What a complete plan amounts to. */
export interface Foresight {
  /** By outcome, as if everything went well. */
  readonly counts: Counts;
  /** Of these, what needs no applying. */
  readonly settled: Partial<Counts>;
  /** Users to be disabled or archived, absent ones included. */
  readonly ending: number;
  readonly records: number;
  readonly recordsInError: number;
}

export function foresee(tally: readonly Tally[], issues: number): Foresight {
  const total = (is: (row: Tally) => boolean) => tally.filter(is).reduce((sum, row) => sum + row.count, 0);
  const users = (action: string) => total((row) => row.kind !== 'group' && row.action === action);
  const groups = (action: string) => total((row) => row.kind === 'group' && row.action === action);
  const settled = {
    unchanged: total((row) => row.kind === 'user' && row.action === 'unchanged' && row.phase === null),
    skipped: users('skip'),
  };
  const counts = {
    ...noCounts,
    created: users('create'),
    updated: users('update'),
    reactivated: users('reactivate'),
    disabled: users('disable'),
    archived: users('archive'),
    unchanged: users('unchanged'),
    skipped: settled.skipped,
    groupsCreated: groups('create'),
    groupsUpdated: groups('update'),
    issues,
  };
  return {
    counts,
    settled,
    ending: counts.disabled + counts.archived,
    records: total((row) => row.kind === 'user'),
    recordsInError: total((row) => row.kind === 'user' && row.action === 'issue'),
  };
}
