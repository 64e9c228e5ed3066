// People in numbers that no test could create one by one, straight into the tables.

import type { Database } from '../../src/storage/database.ts';

const rowsAtOnce = 500;
const created = '2030-01-01T00:00:00.000Z';

/** Inserts active users `u1` to `u{count}` with the ids 1 to `count`, owned by nobody. */
export async function insertPeople(database: Database, count: number): Promise<void> {
  await database.write(async (tx) => {
    for (let start = 1; start <= count; start += rowsAtOnce) {
      const size = Math.min(rowsAtOnce, count - start + 1);
      const rows = Array.from({ length: size }, (_, index) => toRow(start + index));
      await tx.insertInto('user').values(rows).execute();
    }
    await tx
      .updateTable('sequence')
      .set({ next: count + 1 })
      .where('name', '=', 'User')
      .execute();
  });
}

function toRow(id: number) {
  return {
    id,
    state: 'active' as const,
    owner_source_id: null,
    user_name: `u${id}`,
    user_name_key: `u${id}`,
    display_name: `u${id}`,
    display_name_key: null,
    family_name_key: null,
    employee_number_key: null,
    document: '{}',
    folded: null,
    manager_id: null,
    password_hash: null,
    do_not_synchronise: 0 as const,
    version: 1,
    created,
    modified: created,
  };
}
