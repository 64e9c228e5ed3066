import type { Selectable } from 'kysely';
import type { Reader, Tx } from '../storage/database.ts';
import type { InvitationTable } from '../storage/schema.ts';

/** An invitation as it is stored: of its token only the SHA-256. */
export interface Invitation {
  readonly id: number;
  readonly name: string;
  readonly created: string;
  readonly expires: string;
  /** When it was used; null for not yet. */
  readonly accepted: string | null;
}

function toInvitation({ id, name, created, expires, accepted }: Selectable<InvitationTable>): Invitation {
  return { id, name, created, expires, accepted };
}

export interface NewInvitation {
  readonly name: string;
  readonly hash: string;
  readonly created: string;
  readonly expires: string;
}

export async function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<number> {
  const { id } = await tx
    .insertInto('invitation')
    .values({ ...invitation, accepted: null })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function findInvitationByHash(db: Reader, hash: string): Promise<Invitation | undefined> {
  const row = await db.selectFrom('invitation').selectAll().where('hash', '=', hash).executeTakeFirst();
  return row && toInvitation(row);
}

/** Marks the invitation used at `now`, if it is in force then. Undefined when it is not: used, expired or unknown. */
export async function acceptInvitation(tx: Tx, hash: string, now: string): Promise<Invitation | undefined> {
  const row = await tx
    .updateTable('invitation')
    .set({ accepted: now })
    .where('hash', '=', hash)
    .where('accepted', 'is', null)
    .where('expires', '>', now)
    .returningAll()
    .executeTakeFirst();
  return row && toInvitation(row);
}

/** Whether any invitation could still be used at `now`. */
export async function hasOpenInvitation(db: Reader, now: string): Promise<boolean> {
  const row = await db
    .selectFrom('invitation')
    .select('id')
    .where('accepted', 'is', null)
    .where('expires', '>', now)
    .executeTakeFirst();
  return row !== undefined;
}

export async function hasAdminAccount(db: Reader): Promise<boolean> {
  return (await db.selectFrom('admin_account').select('id').executeTakeFirst()) !== undefined;
}
