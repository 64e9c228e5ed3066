import type { Insertable } from 'kysely';
import { equalValues, isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import { bulkInsert } from '../storage/bulk-insert.ts';
import type { Tx } from '../storage/database.ts';
import type { JournalTable, ResourceTypeName } from '../storage/schema.ts';
import type { DirectoryContext } from './context.ts';

export type JournalAction =
  | 'create'
  | 'update'
  | 'deactivate'
  | 'reactivate'
  | 'archive'
  | 'delete'
  | 'members.add'
  | 'members.remove'
  | 'groups.add'
  | 'groups.remove';

export interface JournalEntry {
  readonly resourceType: ResourceTypeName;
  readonly resourceId: number;
  readonly action: JournalAction;
  readonly before?: ScimObject;
  readonly after?: ScimObject;
}

const insertRows = bulkInsert('journal', [
  'time',
  'actor_kind',
  'actor_id',
  'request_id',
  'run_id',
  'resource_type',
  'resource_id',
  'action',
  'before',
  'after',
]);

/** Appends what has changed, in the transaction that changes it: both are there afterwards, or neither. */
export async function appendJournal(
  tx: Tx,
  context: DirectoryContext,
  entries: readonly JournalEntry[],
): Promise<void> {
  await insertRows(
    tx,
    entries.map((entry) => toRow(context, entry)),
  );
}

function toRow(context: DirectoryContext, entry: JournalEntry): Insertable<JournalTable> {
  return {
    time: context.now,
    actor_kind: context.actor.kind,
    actor_id: context.actor.id,
    request_id: context.requestId,
    run_id: context.runId,
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    action: entry.action,
    before: entry.before === undefined ? null : JSON.stringify(entry.before),
    after: entry.after === undefined ? null : JSON.stringify(entry.after),
  };
}

/** The attributes in which two resources differ, each side with its own values; extensions attribute by attribute. */
export function difference(before: ScimObject, after: ScimObject): { before: ScimObject; after: ScimObject } {
  const left: Record<string, ScimValue> = {};
  const right: Record<string, ScimValue> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [a, b] = [before[name], after[name]];
    if (name === 'schemas' || equalValues(a, b)) continue;
    const nested = isObject(a) && isObject(b) ? difference(a, b) : { before: a, after: b };
    if (nested.before !== undefined) left[name] = nested.before;
    if (nested.after !== undefined) right[name] = nested.after;
  }
  return { before: left, after: right };
}
