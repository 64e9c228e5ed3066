import type { NewPlanRow } from './plan-store.ts';

type Known = Pick<NewPlanRow, 'kind' | 'record_id' | 'line'> & Partial<NewPlanRow>;

/** A plan row of which all columns are said: rows of one statement must be alike. The run's id is set on insertion. */
export function planRow(seq: number, known: Known): NewPlanRow {
  return {
    run_id: 0,
    seq,
    action: 'issue',
    phase: null,
    resource_id: null,
    ordinal: null,
    name_key: null,
    chain: null,
    former_id: null,
    payload: null,
    sealed_password: null,
    changed: null,
    digest: null,
    ...known,
  };
}
