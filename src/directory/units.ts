import { canonicalKey } from '../resource/canonical-key.ts';
import { brokenUniqueRule, StaleRead } from '../storage/constraints.ts';
import type { Tx } from '../storage/database.ts';
import { reserveIds } from '../storage/sequence-store.ts';
import type { DirectoryContext } from './context.ts';
import { documentColumns } from './document-columns.ts';
import { findGroupsByNameKeys, type GroupHit, insertGroups } from './group-store.ts';
import { appendJournal } from './journal-store.ts';
import type { UnitType } from './organisation.ts';

export interface WantedUnit {
  readonly type: UnitType;
  readonly name: string;
}

/** A company, department or location as the directory has it. */
export interface Unit {
  readonly id: number;
  readonly displayName: string;
  readonly ownerSourceId: number | null;
}

/** Finds a unit that `requireUnits` was asked for. */
export type FoundUnits = (unit: WantedUnit) => Unit;

/** The groups of these types and names, compared without case; those that are not there yet are created. */
export async function requireUnits(
  tx: Tx,
  context: DirectoryContext,
  wanted: readonly WantedUnit[],
): Promise<FoundUnits> {
  const byKey = new Map(wanted.map((unit) => [unitKey(unit), unit]));
  const found = await findGroupsByNameKeys(tx, [...new Set(wanted.map((unit) => canonicalKey(unit.name)))]);
  const units = new Map(found.map((group) => [`${group.group_type}:${group.key}`, toUnit(group)]));
  const missing = [...byKey].filter(([key]) => !units.has(key));
  if (missing.length > 0) {
    const first = await reserveIds(tx, 'Group', missing.length);
    const made = missing.map(([, unit], index) => ({ ...unit, id: first + index }));
    await createUnits(tx, context, made);
    for (const { id, name, type } of made)
      units.set(unitKey({ type, name }), { id, displayName: name, ownerSourceId: context.sourceId });
  }
  return (unit) => units.get(unitKey(unit)) as Unit;
}

function toUnit({ id, display_name: displayName, owner_source_id: ownerSourceId }: GroupHit): Unit {
  return { id, displayName, ownerSourceId };
}

function unitKey({ type, name }: WantedUnit): string {
  return `${type}:${canonicalKey(name)}`;
}

async function createUnits(
  tx: Tx,
  context: DirectoryContext,
  units: readonly (WantedUnit & { readonly id: number })[],
): Promise<void> {
  const rows = units.map(({ id, type, name }) => ({
    id,
    state: 'existing' as const,
    owner_source_id: context.sourceId,
    group_type: type,
    display_name: name,
    display_name_key: canonicalKey(name),
    ...documentColumns({}, name),
    version: 1,
    created: context.now,
    modified: context.now,
  }));
  try {
    await insertGroups(tx, rows);
  } catch (error) {
    if (brokenUniqueRule(error) === 'group_name_live')
      throw new StaleRead('A company, department or location');
    throw error;
  }
  const entries = units.map(({ id, type, name }) => ({
    resourceType: 'Group' as const,
    resourceId: id,
    action: 'create' as const,
    after: { displayName: name, groupType: type },
  }));
  await appendJournal(tx, context, entries);
}
