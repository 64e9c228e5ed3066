import { Database } from 'bun:sqlite';
import { join } from 'node:path';

/**
 * What two imports of the same documents are to leave alike: all that is stored of people and groups, and what is told
 * of the runs, as one line for each row. Times are left out, and so are salted hashes. What counts the batches in which
 * members came is left out too, for these are cut by the clock: versions and journal rows of groups.
 */
export function storedResult(data: string): string[] {
  using db = new Database(join(data, 'rollcall.db'), { readonly: true });
  return selections.flatMap(({ table, columns, where = 'true' }) => {
    const rows = db.query(`select ${columns} from ${table} where ${where}`).values();
    if (rows.length === 0) throw new Error(`nothing to compare in ${table}`);
    // The order in which rows were written is the order of batches as well.
    return rows.map((row) => `${table} ${JSON.stringify(row)}`).toSorted();
  });
}

interface Selection {
  readonly table: string;
  readonly columns: string;
  readonly where?: string;
}

const selections: readonly Selection[] = [
  {
    table: 'user',
    columns: `id, state, owner_source_id, user_name, user_name_key, display_name, display_name_key, family_name_key,
      employee_number_key, document, folded, plain_mark, manager_id, password_hash is not null, do_not_synchronise, version`,
  },
  { table: 'user_email', columns: '*' },
  {
    table: 'group_',
    columns: 'id, state, owner_source_id, group_type, display_name, display_name_key, document, folded',
  },
  { table: 'membership', columns: '*' },
  { table: 'source_link', columns: '*' },
  { table: 'resource_block', columns: 'resource_type, block, live' },
  { table: 'sequence', columns: '*' },
  {
    table: 'journal',
    columns: 'actor_kind, actor_id, request_id, run_id, resource_id, action, before, after',
    where: "resource_type = 'User'",
  },
  {
    table: 'import_run',
    columns: `id, status, origin, sha256, bytes, users, "groups", options, planned, phases, counts, warnings,
      first_user_id, first_group_id, message`,
  },
  {
    table: 'import_plan',
    columns:
      'run_id, seq, kind, record_id, line, action, phase, resource_id, ordinal, name_key, chain, former_id',
  },
  { table: 'import_issue', columns: '*' },
];
