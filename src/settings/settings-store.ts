import { type Selectable, sql } from 'kysely';
import type { Reader, Tx } from '../storage/database.ts';
import type { AdditionalFieldTable } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import type { AdditionalField } from './configuration.ts';

/** Counts the changes of the configuration: whoever holds a copy compares it to know that the copy is old. */
const versionKey = 'configurationVersion';

/** Counts those that change what resources show. */
const shownVersionKey = 'shownVersion';

const selectVersion = statement<{ key: string }, { value: string }>((db, place) =>
  db.selectFrom('setting').select('value').where('key', '=', place('key')),
);

export async function readConfigurationVersion(db: Reader): Promise<string> {
  const [row] = await selectVersion(db, { key: versionKey });
  return row?.value ?? '0';
}

/** The same as a part of another statement; null for 0. */
export function configurationVersionIn(db: Reader) {
  return db.selectFrom('setting').select('value').where('key', '=', versionKey);
}

/** The same without waiting; undefined where the engine has to wait. */
export function configurationVersionAtOnce(db: Reader): string | undefined {
  const rows = selectVersion.atOnce(db, { key: versionKey });
  return rows && (rows[0]?.value ?? '0');
}

export function advanceConfigurationVersion(tx: Tx): Promise<void> {
  return advance(tx, versionKey);
}

/** The version of the configuration has to be advanced with it. */
export function advanceShownVersion(tx: Tx): Promise<void> {
  return advance(tx, shownVersionKey);
}

export function shownVersionOf(settings: ReadonlyMap<string, string>): number {
  return Number(settings.get(shownVersionKey) ?? '0');
}

/** In one statement: two changes at once must not come out as one version. */
async function advance(tx: Tx, key: string): Promise<void> {
  await tx
    .insertInto('setting')
    .values({ key, value: '1' })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({ value: sql<string>`cast(cast(setting.value as integer) + 1 as text)` }),
    )
    .execute();
}

export async function readSettings(db: Reader): Promise<Map<string, string>> {
  const rows = await db.selectFrom('setting').selectAll().execute();
  return new Map(rows.map((row) => [row.key, row.value]));
}

export async function writeSetting(tx: Tx, key: string, value: string): Promise<void> {
  await tx
    .insertInto('setting')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

export async function listAdditionalFields(db: Reader): Promise<AdditionalField[]> {
  const rows = await db
    .selectFrom('additional_field')
    .selectAll()
    .where('removed', '=', 0)
    .orderBy('ordinal')
    .execute();
  return rows.map(toField);
}

/** The field of this id, whether it is in use or was removed. */
export async function findAdditionalField(
  db: Reader,
  id: string,
): Promise<(AdditionalField & { readonly isRemoved: boolean }) | undefined> {
  const row = await db.selectFrom('additional_field').selectAll().where('id', '=', id).executeTakeFirst();
  return row && { ...toField(row), isRemoved: row.removed === 1 };
}

function toField({ id, label, type, pattern, required }: Selectable<AdditionalFieldTable>): AdditionalField {
  return { id, label, type, pattern, required: required === 1 };
}

/** Stores a new field behind the others; one that was removed comes back in its former place. */
export async function putAdditionalField(tx: Tx, field: AdditionalField): Promise<void> {
  const { count } = await tx
    .selectFrom('additional_field')
    .select((select) => select.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  const { id, label, type, pattern } = field;
  const facts = { label, type, pattern, required: field.required ? (1 as const) : (0 as const) };
  await tx
    .insertInto('additional_field')
    .values({ id, ...facts, ordinal: Number(count) + 1 })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...facts, removed: 0 }))
    .execute();
}

export async function markFieldRemoved(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('additional_field').set({ removed: 1 }).where('id', '=', id).execute();
}

export interface PersonaRow {
  readonly id: number;
  readonly name: string;
  readonly rule: 'any' | 'all';
  readonly groupIds: readonly number[];
}

export async function listPersonas(db: Reader): Promise<PersonaRow[]> {
  const personas = await db.selectFrom('persona').selectAll().orderBy('id').execute();
  const groups = await db.selectFrom('persona_group').selectAll().orderBy('group_id').execute();
  return personas.map(({ id, name, rule }) => ({
    id,
    name,
    rule,
    groupIds: groups.filter((group) => group.persona_id === id).map((group) => group.group_id),
  }));
}

export interface NewPersona {
  readonly name: string;
  readonly nameKey: string;
  readonly rule: 'any' | 'all';
  readonly groupIds: readonly number[];
}

export async function insertPersona(tx: Tx, { name, nameKey, rule, groupIds }: NewPersona): Promise<number> {
  const { id } = await tx
    .insertInto('persona')
    .values({ name, name_key: nameKey, rule })
    .returning('id')
    .executeTakeFirstOrThrow();
  await tx
    .insertInto('persona_group')
    .values(groupIds.map((groupId) => ({ persona_id: id, group_id: groupId })))
    .execute();
  return id;
}

/** Those of `ids` that are groups which exist. */
export async function existingGroupIds(db: Reader, ids: readonly number[]): Promise<Set<number>> {
  const rows = await db
    .selectFrom('group_')
    .select('id')
    .where('id', 'in', [...ids])
    .where('state', '=', 'existing')
    .execute();
  return new Set(rows.map((row) => row.id));
}
