import { type Insertable, sql } from 'kysely';
import { equalValues, isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import { bulkInsert } from '../storage/bulk-insert.ts';
import type { Tx } from '../storage/database.ts';
import { inPieces } from '../storage/in-pieces.ts';
import { isPostgres } from '../storage/list-parameter.ts';
import type { JournalTable, ResourceTypeName } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import { countEndings } from './brake.ts';
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
  /** Of `members.remove`: the request did not name who was to go. */
  readonly isSweep?: boolean;
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

/** Fewer rows than this take no longer one by one. */
const alikeMin = 8;

/**
 * Appends what has changed, in the transaction that changes it: both are there afterwards, or neither. Every change
 * passes here, whatever its door, so the brake is asked here too; what it throws undoes the change.
 */
export async function appendJournal(
  tx: Tx,
  context: DirectoryContext,
  entries: readonly JournalEntry[],
): Promise<void> {
  await countEndings(tx, context, entries);
  for (let start = 0; start < entries.length; ) {
    const alike = endOfAlike(entries, start);
    const end = alike - start >= alikeMin ? alike : endOfUnlike(entries, alike);
    const rows = entries.slice(start, end);
    if (end === alike && rows.length >= alikeMin) await insertAlike(tx, context, rows);
    else
      await insertRows(
        tx,
        rows.map((entry) => toRow(context, entry)),
      );
    start = end;
  }
}

/** Where the entries end that say the same of one resource after another. */
function endOfAlike(entries: readonly JournalEntry[], start: number): number {
  const first = entries[start];
  let end = start + 1;
  for (let entry = entries[end]; entry !== undefined && isAlike(first, entry); entry = entries[end]) end += 1;
  return end;
}

function isAlike(first: JournalEntry | undefined, entry: JournalEntry): boolean {
  return (
    first?.resourceType === entry.resourceType &&
    first.action === entry.action &&
    first.before === entry.before &&
    first.after === entry.after
  );
}

function endOfUnlike(entries: readonly JournalEntry[], start: number): number {
  let end = start;
  while (end < entries.length) {
    const next = endOfAlike(entries, end);
    if (next - end >= alikeMin) return end;
    end = next;
  }
  return end;
}

type JournalRow = Omit<Insertable<JournalTable>, 'seq' | 'resource_id'> & { readonly ids: string };

const insertForEach = statement<JournalRow & Record<string, unknown>, never>((db, place) => {
  const ids = isPostgres(db)
    ? sql`json_array_elements_text(cast(${place('ids')} as json))`
    : sql`json_each(${place('ids')})`;
  const text = (name: keyof JournalRow) => sql`cast(${place(name)} as text)`;
  const number = (name: keyof JournalRow) => sql`cast(${place(name)} as bigint)`;
  const insert = sql<never>`insert into journal
    (time, actor_kind, actor_id, request_id, run_id, resource_type, resource_id, action, before, after)
    select ${text('time')}, ${text('actor_kind')}, ${number('actor_id')}, ${text('request_id')},
      ${number('run_id')}, ${text('resource_type')}, cast(value as bigint), ${text('action')},
      ${text('before')}, ${text('after')} from ${ids}`;
  return { compile: () => insert.compile(db) };
});

/** Of a thousand people who join a group each gets a row of their own, in one statement. */
async function insertAlike(
  tx: Tx,
  context: DirectoryContext,
  entries: readonly JournalEntry[],
): Promise<void> {
  const { resource_id: _first, ...row } = toRow(context, entries[0] as JournalEntry);
  const ids = entries.map((entry) => entry.resourceId);
  await inPieces(ids, (piece) => insertForEach(tx, { ...row, ids: JSON.stringify(piece) }));
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
  for (const name of Object.keys(before)) {
    const [a, b] = [before[name], after[name]];
    if (name === 'schemas' || equalValues(a, b)) continue;
    const nested = isObject(a) && isObject(b) ? difference(a, b) : { before: a, after: b };
    if (nested.before !== undefined) left[name] = nested.before;
    if (nested.after !== undefined) right[name] = nested.after;
  }
  for (const name of Object.keys(after)) {
    const added = after[name];
    if (added !== undefined && name !== 'schemas' && !Object.hasOwn(before, name)) right[name] = added;
  }
  return { before: left, after: right };
}
