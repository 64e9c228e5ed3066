import { sql } from 'kysely';
import { bulkInsert } from '../storage/bulk-insert.ts';
import type { Reader, Tx } from '../storage/database.ts';
import { inNumbers, inTexts } from '../storage/list-parameter.ts';
import type { ResourceTypeName, SourceLinkTable } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';

export interface LinkHit {
  readonly resource_id: number;
  readonly external_id: string;
  readonly digest: string | null;
}

type ByExternalIds = { source: number; type: ResourceTypeName; ids: string };

/**
 * Begins with the names: for an `in`, SQLite would rather read every link of the source by the primary key, which tells the
 * source and the type, too. A cross join keeps this order.
 */
const selectByExternalIds = statement<ByExternalIds, LinkHit>((db, place) =>
  db
    .selectFrom(sql<{ value: string }>`${inTexts(db, place('ids'))}`.as('wanted'))
    .crossJoin('source_link')
    .select(['resource_id', 'external_id', 'digest'])
    .where('source_id', '=', place('source'))
    .where('resource_type', '=', place('type'))
    .whereRef('external_id', '=', 'wanted.value'),
);

/** What this source calls by these names. Links go when a resource is archived or deleted, so every hit is live. */
export async function findLinks(
  db: Reader,
  source: number,
  type: ResourceTypeName,
  externalIds: readonly string[],
): Promise<LinkHit[]> {
  if (externalIds.length === 0) return [];
  return selectByExternalIds(db, { source, type, ids: JSON.stringify([...new Set(externalIds)]) });
}

/** Records what a source calls its resources. A link without digest leaves the digest that is stored. */
export const upsertLinks: (tx: Tx, links: readonly SourceLinkTable[]) => Promise<void> = bulkInsert(
  'source_link',
  ['source_id', 'resource_type', 'resource_id', 'external_id', 'digest'],
  (insert) =>
    insert.onConflict((conflict) =>
      conflict.columns(['source_id', 'resource_type', 'resource_id']).doUpdateSet((row) => ({
        external_id: row.ref('excluded.external_id'),
        digest: row.fn.coalesce('excluded.digest', 'source_link.digest'),
      })),
    ),
);

const forgetByIds = statement<{ source: number; ids: string }, never>((db, place) =>
  db
    .updateTable('source_link')
    .set({ digest: null })
    .where('source_id', '=', place('source'))
    .where('resource_type', '=', 'User')
    .where('resource_id', 'in', inNumbers(db, place('ids'))),
);

/** The source's records of these users were not applied in full: the next file with them is not "unchanged". */
export async function forgetDigests(tx: Tx, source: number, userIds: readonly number[]): Promise<void> {
  if (userIds.length > 0) await forgetByIds(tx, { source, ids: JSON.stringify(userIds) });
}

export async function deleteLink(
  tx: Tx,
  link: Omit<SourceLinkTable, 'external_id' | 'digest'>,
): Promise<void> {
  await tx
    .deleteFrom('source_link')
    .where('source_id', '=', link.source_id)
    .where('resource_type', '=', link.resource_type)
    .where('resource_id', '=', link.resource_id)
    .execute();
}

const deleteLinksOf = statement<{ type: ResourceTypeName; id: number }, never>((db, place) =>
  db
    .deleteFrom('source_link')
    .where('resource_type', '=', place('type'))
    .where('resource_id', '=', place('id')),
);

/** A resource that is archived or deleted is called nothing any more: its names are free again. */
export async function deleteAllLinks(tx: Tx, type: ResourceTypeName, resourceId: number): Promise<void> {
  await deleteLinksOf(tx, { type, id: resourceId });
}
