import { type Insertable, type Kysely, type Selectable, type SqlBool, sql } from 'kysely';
import { platformGroupUrn } from '../resource/schema.ts';
import { isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import type { Reader, Tx } from '../storage/database.ts';
import { inNumbers, inTexts } from '../storage/list-parameter.ts';
import type { GroupTable, Tables } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import { laterModified } from './touch-store.ts';

export const defaultGroupType = 'security group';

/** A group as the directory knows it. Its members are rows of their own, never part of it. */
export interface Group {
  readonly id: number;
  readonly ownerSourceId: number | null;
  readonly groupType: string;
  readonly displayName: string;
  readonly version: number;
  readonly created: string;
  readonly modified: string;
  /** The writable attributes without `members`, in canonical SCIM form, with this source's externalId. */
  readonly resource: ScimObject;
}

/** Fixed text, so that the partial index on names serves; see `isLive` of user-store.ts. */
const isExisting = sql<SqlBool>`group_.state = 'existing'`;

type GroupRow = Selectable<GroupTable> & { external_id: string | null };

function existing(db: Kysely<Tables>, source: number | null) {
  return db
    .selectFrom('group_')
    .selectAll('group_')
    .select((group) =>
      group
        .selectFrom('source_link as link')
        .select('link.external_id')
        .where('link.source_id', '=', source as number)
        .where(sql<SqlBool>`link.resource_type = 'Group'`)
        .whereRef('link.resource_id', '=', 'group_.id')
        .as('external_id'),
    )
    .where(isExisting);
}

const selectByIds = statement<{ ids: string; source: number | null }, GroupRow>((db, place) =>
  existing(db, place('source'))
    .where('group_.id', 'in', inNumbers(db, place('ids')))
    .orderBy('group_.id'),
);

/** Of one group: SQLite takes as long again to read a list of ids. */
const selectById = statement<{ id: number; source: number | null }, GroupRow>((db, place) =>
  existing(db, place('source')).where('group_.id', '=', place('id')),
);

/** The existing groups with these ids, in the order of their ids. */
export async function selectGroups(
  db: Reader,
  ids: readonly number[],
  sourceId: number | null,
): Promise<Group[]> {
  const [id] = ids;
  if (id === undefined) return [];
  if (ids.length === 1) return (await selectById(db, { id, source: sourceId })).map(toGroup);
  return (await selectByIds(db, { ids: JSON.stringify(ids), source: sourceId })).map(toGroup);
}

function toGroup(row: GroupRow): Group {
  const { display_name: displayName, group_type: groupType } = row;
  const document = JSON.parse(row.document) as ScimObject;
  return {
    id: row.id,
    ownerSourceId: row.owner_source_id,
    groupType,
    displayName,
    version: row.version,
    created: row.created,
    modified: row.modified,
    resource: toGroupResource({ displayName, groupType, document, externalId: row.external_id ?? undefined }),
  };
}

/** The reverse of `toGroupParts`. */
export function toGroupResource(parts: ReturnType<typeof toGroupParts>): ScimObject {
  const { displayName, groupType, document, externalId } = parts;
  const platform = isObject(document[platformGroupUrn]) ? document[platformGroupUrn] : {};
  const resource: Record<string, ScimValue> = {
    displayName,
    ...document,
    [platformGroupUrn]: { groupType, ...platform },
  };
  if (externalId !== undefined) resource.externalId = externalId;
  return resource;
}

/** What a group resource is stored as: columns, and the document without them. */
export function toGroupParts(resource: ScimObject) {
  const { displayName, externalId, schemas: _schemas, members: _members, ...rest } = resource;
  const { [platformGroupUrn]: platform, ...core } = rest;
  const { groupType, ...others } = isObject(platform) ? platform : {};
  const document: ScimObject =
    Object.keys(others).length > 0 ? { ...core, [platformGroupUrn]: others } : core;
  return {
    displayName: String(displayName ?? ''),
    groupType: typeof groupType === 'string' ? groupType : defaultGroupType,
    externalId: typeof externalId === 'string' ? externalId : undefined,
    document,
  } as const;
}

const rowsInStatementMax = 100;

export async function insertGroups(tx: Tx, rows: readonly Insertable<GroupTable>[]): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsInStatementMax) {
    await tx
      .insertInto('group_')
      .values(rows.slice(start, start + rowsInStatementMax))
      .execute();
  }
}

export interface GroupUpdate extends Record<string, unknown> {
  readonly id: number;
  readonly display_name: string;
  readonly display_name_key: string;
  readonly group_type: string;
  readonly document: string;
  readonly folded: string | null;
  readonly owner_source_id: number | null;
  readonly modified: string;
  readonly former_version: number;
}

const updateById = statement<GroupUpdate, { id: number }>((db, place) =>
  db
    .updateTable('group_')
    .set({
      display_name: place('display_name'),
      display_name_key: place('display_name_key'),
      group_type: place('group_type'),
      document: place('document'),
      folded: place('folded'),
      owner_source_id: place('owner_source_id'),
      modified: place('modified'),
    })
    .set((value) => ({ version: value('version', '+', 1) }))
    .where('id', '=', place('id'))
    .where('version', '=', place('former_version'))
    .returning('id'),
);

export type GroupVersion = Pick<GroupUpdate, 'id' | 'owner_source_id' | 'modified' | 'former_version'>;

const updateVersionById = statement<GroupVersion & Record<string, unknown>, { id: number }>((db, place) =>
  db
    .updateTable('group_')
    .set({ owner_source_id: place('owner_source_id'), modified: place('modified') })
    .set((value) => ({ version: value('version', '+', 1) }))
    .where('id', '=', place('id'))
    .where('version', '=', place('former_version'))
    .returning('id'),
);

/** `updateGroup` for a change of the members alone: no index is touched. */
export async function updateGroupVersion(tx: Tx, update: GroupVersion): Promise<boolean> {
  return (await updateVersionById(tx, update as GroupUpdate)).length === 1;
}

/** Writes the group if it still has `former_version`; false when another transaction was first. */
export async function updateGroup(tx: Tx, update: GroupUpdate): Promise<boolean> {
  return (await updateById(tx, update)).length === 1;
}

/** A group that nobody owns is the source's from now on. */
export async function adoptGroup(tx: Tx, id: number, sourceId: number): Promise<void> {
  await tx
    .updateTable('group_')
    .set({ owner_source_id: sourceId })
    .where('id', '=', id)
    .where('owner_source_id', 'is', null)
    .execute();
}

export async function markDeleted(tx: Tx, { id, now }: { id: number; now: string }): Promise<void> {
  await tx
    .updateTable('group_')
    .set((value) => ({
      state: 'deleted',
      modified: laterModified(now),
      version: value('version', '+', 1),
    }))
    .where('id', '=', id)
    .execute();
}

export interface GroupHit {
  readonly id: number;
  readonly group_type: string;
  readonly display_name: string;
  readonly key: string;
  readonly owner_source_id: number | null;
}

const hitColumns = [
  'id',
  'group_type',
  'display_name',
  'display_name_key as key',
  'owner_source_id',
] as const;

const selectByNameKeys = statement<{ keys: string }, GroupHit>((db, place) =>
  db
    .selectFrom('group_')
    .select(hitColumns)
    .where('display_name_key', 'in', inTexts(db, place('keys')))
    .where(isExisting),
);

const selectByNameKey = statement<{ key: string }, GroupHit>((db, place) =>
  db.selectFrom('group_').select(hitColumns).where('display_name_key', '=', place('key')).where(isExisting),
);

/** Existing groups of any type with one of these names. */
export async function findGroupsByNameKeys(db: Reader, keys: readonly string[]): Promise<GroupHit[]> {
  const [key] = keys;
  if (key === undefined) return [];
  return keys.length === 1
    ? selectByNameKey(db, { key })
    : selectByNameKeys(db, { keys: JSON.stringify(keys) });
}

const selectExisting = statement<{ ids: string }, { id: number }>((db, place) =>
  db
    .selectFrom('group_')
    .select('id')
    .where('id', 'in', inNumbers(db, place('ids')))
    .where(isExisting),
);

/** How many of `ids` are existing groups. */
export async function countGroups(db: Reader, ids: readonly number[]): Promise<number> {
  return (await selectExisting(db, { ids: JSON.stringify(ids) })).length;
}
