import type { Insertable, Selectable } from 'kysely';
import type { Reader, Tx } from '../storage/database.ts';
import type { AuditEventTable } from '../storage/schema.ts';

export type AuditRow = Selectable<AuditEventTable>;

export async function insertAuditRow(tx: Tx, row: Insertable<AuditEventTable>): Promise<void> {
  await tx.insertInto('audit_event').values(row).execute();
}

/** Newest first. */
export async function listAuditRows(
  db: Reader,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<AuditRow[]> {
  let query = db.selectFrom('audit_event').selectAll().orderBy('seq', 'desc').limit(limit);
  if (before !== undefined) query = query.where('seq', '<', before);
  return query.execute();
}
