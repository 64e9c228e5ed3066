import type { Reader, Tx } from '../storage/database.ts';

/** An administrator of the console. People in the directory are never one by themselves. */
export interface Account {
  readonly id: number;
  readonly name: string;
}

export interface StoredAccount extends Account {
  readonly passwordHash: string;
}

export async function findAccountByNameKey(db: Reader, nameKey: string): Promise<StoredAccount | undefined> {
  const row = await db
    .selectFrom('admin_account')
    .select(['id', 'name', 'password_hash'])
    .where('name_key', '=', nameKey)
    .executeTakeFirst();
  return row && { id: row.id, name: row.name, passwordHash: row.password_hash };
}

export interface NewAccount {
  readonly name: string;
  readonly nameKey: string;
  readonly passwordHash: string;
  readonly created: string;
}

export async function insertAccount(
  tx: Tx,
  { name, nameKey, passwordHash, created }: NewAccount,
): Promise<Account> {
  const { id } = await tx
    .insertInto('admin_account')
    .values({ name, name_key: nameKey, password_hash: passwordHash, created })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, name };
}
