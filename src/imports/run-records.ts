import type { Reader } from '../storage/database.ts';
import type { PlanAction } from './imports.ts';
import { listPlanned, type PlannedRow } from './plan-store.ts';
import type { RunRow } from './run-store.ts';

/** What became of one record of a document, or of somebody who was missing in it. */
export interface RunRecord {
  /** Counts the records of the run; a page goes on after it. */
  readonly seq: number;
  readonly kind: 'user' | 'group' | 'absent';
  /** The record's `@id`, or its username where it has none; null for somebody who is missing. */
  readonly recordId: string | null;
  readonly line: number | null;
  readonly action: PlanAction;
  /** Id of the user or group; null where there is none. */
  readonly resourceId: number | null;
  /** Attributes that the record changes in somebody who was there already. */
  readonly changed: readonly string[];
}

export interface RecordsQuery {
  readonly after: number;
  readonly limit: number;
  readonly action?: PlanAction | undefined;
}

/** Records of the run in the order of its plan. */
export async function listRecords(db: Reader, run: RunRow, query: RecordsQuery): Promise<RunRecord[]> {
  return (await listPlanned(db, run.id, query)).map((row) => toRecord(run, row));
}

function toRecord(run: RunRow, row: PlannedRow): RunRecord {
  return {
    seq: row.seq,
    kind: row.kind as RunRecord['kind'],
    recordId: row.record_id,
    line: row.line,
    action: row.action as PlanAction,
    resourceId: row.resource_id ?? reservedId(run, row),
    changed: row.changed === null ? [] : (JSON.parse(row.changed) as string[]),
  };
}

/** Whoever a run creates has an id from the block that was reserved for it when its plan was complete. */
function reservedId(run: RunRow, { kind, ordinal, action }: PlannedRow): number | null {
  const first = kind === 'group' ? run.first_group_id : run.first_user_id;
  return action !== 'create' || ordinal === null || first === null ? null : first + ordinal;
}
