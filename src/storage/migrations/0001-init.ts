import { type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { Dialect } from '../database.ts';
import { countLiveResources } from './live-counts.ts';

type Db = Kysely<unknown>;

export async function up(db: Db, dialect: Dialect): Promise<void> {
  const make = tables(db, dialect);
  await createConfiguration(make);
  await createUsers(make);
  await createGroups(make);
  await createDirectory(make);
  await createJournal(make);
  await createImports(make);
  await createImportPlans(make);
  await createAccounts(make);
  await createIndexes(db);
  await countLiveResources(db, dialect);
  await db
    .insertInto('sequence' as never)
    .values([
      { name: 'User', next: 1 },
      { name: 'Group', next: 1 },
    ] as never)
    .execute();
}

type Make = ReturnType<typeof tables>;

/** What differs between the engines: how a table numbers its rows, how wide an integer is, how texts are ordered. */
function tables(db: Db, dialect: Dialect) {
  const integer = dialect === 'sqlite' ? 'integer' : 'bigint';
  const autoId = (column: ColumnDefinitionBuilder) =>
    dialect === 'sqlite'
      ? column.primaryKey().autoIncrement()
      : column.primaryKey().generatedAlwaysAsIdentity();
  return {
    integer,
    /** A text that is compared by code point, as SQLite compares every text, so that indexes and order agree. */
    key: dialect === 'sqlite' ? ('text' as const) : sql`text collate "C"`,
    table: (name: string) => db.schema.createTable(name),
    numbered: (name: string, column = 'id') => db.schema.createTable(name).addColumn(column, integer, autoId),
    /** A table that is found by its key alone needs no other tree on SQLite: one write less for each row. */
    byKey: (table: CreateTableBuilder<string, string>) =>
      dialect === 'sqlite' ? table.modifyEnd(sql`without rowid`) : table,
  } as const;
}

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const flag = (column: ColumnDefinitionBuilder) => column.notNull().defaultTo(0);

function references(target: string) {
  return (column: ColumnDefinitionBuilder) => column.notNull().references(target).onDelete('cascade');
}

async function run(...builders: CreateTableBuilder<string, string>[]): Promise<void> {
  for (const builder of builders) await builder.execute();
}

async function createConfiguration({ integer, table, numbered }: Make): Promise<void> {
  await run(
    table('sequence')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('next', integer, required),
    numbered('source')
      .addColumn('kind', 'text', required)
      .addColumn('name', 'text', required)
      .addColumn('name_key', 'text', required)
      .addColumn('active', 'integer', required)
      .addColumn('settings', 'text', required)
      .addColumn('created', 'text', required)
      .addColumn('modified', 'text', required),
    numbered('source_token')
      .addColumn('source_id', integer, references('source.id'))
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('ciphertext', 'text', required)
      .addColumn('created', 'text', required)
      .addColumn('expires', 'text'),
    table('brake')
      .addColumn('source_id', integer, (column) =>
        column.primaryKey().references('source.id').onDelete('cascade'),
      )
      .addColumn('total', integer, required)
      .addColumn('recent', 'text', required)
      .addColumn('held_since', 'text')
      .addColumn('released_until', 'text')
      .addColumn('alarmed_at', 'text'),
    table('setting')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('value', 'text', required),
    table('additional_field')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('label', 'text', required)
      .addColumn('type', 'text', required)
      .addColumn('pattern', 'text')
      .addColumn('required', 'integer', flag)
      .addColumn('ordinal', 'integer', required)
      .addColumn('removed', 'integer', flag),
  );
}

async function createUsers({ integer, key, table, byKey }: Make): Promise<void> {
  await run(
    table('user')
      .addColumn('id', integer, (column) => column.primaryKey())
      .addColumn('state', 'text', required)
      .addColumn('owner_source_id', integer, (column) => column.references('source.id').onDelete('set null'))
      .addColumn('user_name', 'text', required)
      .addColumn('user_name_key', key, required)
      .addColumn('display_name', key, required)
      .addColumn('display_name_key', key)
      .addColumn('family_name_key', key)
      .addColumn('employee_number_key', key)
      .addColumn('document', 'text', required)
      .addColumn('folded', 'text')
      .addColumn('plain_mark', integer, (column) => column.notNull().defaultTo(0))
      .addColumn('manager_id', integer)
      .addColumn('password_hash', 'text')
      .addColumn('do_not_synchronise', 'integer', flag)
      .addColumn('version', integer, required)
      .addColumn('created', key, required)
      .addColumn('modified', key, required),
    byKey(
      table('user_email')
        .addColumn('user_id', integer, references('user.id'))
        .addColumn('ordinal', 'integer', required)
        .addColumn('type', 'text')
        .addColumn('is_primary', 'integer', flag)
        .addColumn('value_key', key, required)
        .addPrimaryKeyConstraint('user_email_pk', ['user_id', 'ordinal']),
    ),
    byKey(
      table('source_link')
        .addColumn('source_id', integer, references('source.id'))
        .addColumn('resource_type', 'text', required)
        .addColumn('resource_id', integer, required)
        .addColumn('external_id', key, required)
        .addColumn('digest', 'text')
        .addPrimaryKeyConstraint('source_link_pk', ['source_id', 'resource_type', 'resource_id']),
    ),
  );
}

async function createGroups({ integer, key, table, byKey }: Make): Promise<void> {
  await run(
    table('group_')
      .addColumn('id', integer, (column) => column.primaryKey())
      .addColumn('state', 'text', required)
      .addColumn('owner_source_id', integer, (column) => column.references('source.id').onDelete('set null'))
      .addColumn('group_type', key, required)
      .addColumn('display_name', 'text', required)
      .addColumn('display_name_key', key, required)
      .addColumn('document', 'text', required)
      .addColumn('folded', 'text')
      .addColumn('version', integer, required)
      .addColumn('created', key, required)
      .addColumn('modified', key, required),
    byKey(
      table('membership')
        .addColumn('group_id', integer, references('group_.id'))
        .addColumn('user_id', integer, references('user.id'))
        .addColumn('primary_type', 'text')
        .addPrimaryKeyConstraint('membership_pk', ['group_id', 'user_id']),
    ),
  );
}

/** What is kept about users and groups: how many there are, who is waited for, and which groups make a persona. */
async function createDirectory({ integer, key, table, numbered }: Make): Promise<void> {
  await run(
    table('resource_block')
      .addColumn('resource_type', 'text', required)
      .addColumn('block', integer, required)
      .addColumn('live', integer, required)
      .addColumn('changes', integer, (column) => column.notNull().defaultTo(0))
      .addPrimaryKeyConstraint('resource_block_pk', ['resource_type', 'block']),
    numbered('pending_reference')
      .addColumn('source_id', integer, references('source.id'))
      .addColumn('kind', 'text', required)
      .addColumn('resource_id', integer, required)
      .addColumn('reference', 'text', required)
      .addColumn('reference_key', key, required)
      .addColumn('created', 'text', required),
    numbered('persona')
      .addColumn('name', 'text', required)
      .addColumn('name_key', key, (column) => column.notNull().unique())
      .addColumn('rule', 'text', required),
    table('persona_group')
      .addColumn('persona_id', integer, references('persona.id'))
      .addColumn('group_id', integer, references('group_.id'))
      .addPrimaryKeyConstraint('persona_group_pk', ['persona_id', 'group_id']),
  );
}

async function createJournal({ integer, numbered }: Make): Promise<void> {
  await run(
    numbered('journal', 'seq')
      .addColumn('time', 'text', required)
      .addColumn('actor_kind', 'text', required)
      .addColumn('actor_id', integer)
      .addColumn('request_id', 'text')
      .addColumn('run_id', integer)
      .addColumn('resource_type', 'text', required)
      .addColumn('resource_id', integer, required)
      .addColumn('action', 'text', required)
      .addColumn('before', 'text')
      .addColumn('after', 'text'),
  );
}

async function createImports({ integer, numbered }: Make): Promise<void> {
  await run(
    numbered('import_run')
      .addColumn('source_id', integer, references('source.id'))
      .addColumn('status', 'text', required)
      .addColumn('origin', 'text', required)
      .addColumn('dry_run', 'integer', flag)
      .addColumn('phase', 'text')
      .addColumn('cursor', integer, flag)
      .addColumn('done', integer, flag)
      .addColumn('pace_from', 'text')
      .addColumn('pace_done', integer, flag)
      .addColumn('ticket', 'text')
      .addColumn('document', 'text')
      .addColumn('archive', 'text')
      .addColumn('sha256', 'text', required)
      .addColumn('circumstances', 'text', required)
      .addColumn('bytes', integer, required)
      .addColumn('users', integer, required)
      .addColumn('groups', integer, required)
      .addColumn('options', 'text')
      .addColumn('planned', 'text')
      .addColumn('phases', 'text')
      .addColumn('counts', 'text', required)
      .addColumn('warnings', 'text', required)
      .addColumn('first_user_id', integer)
      .addColumn('first_group_id', integer)
      .addColumn('message', 'text')
      .addColumn('lease_owner', 'text')
      .addColumn('lease_until', 'text')
      .addColumn('fence', integer, flag)
      .addColumn('attempts', integer, flag)
      .addColumn('retry_at', 'text')
      .addColumn('created', 'text', required)
      .addColumn('started', 'text')
      .addColumn('applied_from', 'text')
      .addColumn('finished', 'text'),
  );
}

async function createImportPlans({ integer, table }: Make): Promise<void> {
  await run(
    table('import_plan')
      .addColumn('run_id', integer, references('import_run.id'))
      .addColumn('seq', integer, required)
      .addColumn('kind', 'text', required)
      .addColumn('record_id', 'text')
      .addColumn('line', integer)
      .addColumn('action', 'text', required)
      .addColumn('phase', 'text')
      .addColumn('resource_id', integer)
      .addColumn('ordinal', integer)
      .addColumn('name_key', 'text')
      .addColumn('chain', integer)
      .addColumn('former_id', 'text')
      .addColumn('payload', 'text')
      .addColumn('sealed_password', 'text')
      .addColumn('changed', 'text')
      .addColumn('digest', 'text')
      .addPrimaryKeyConstraint('import_plan_pk', ['run_id', 'seq']),
    table('import_issue')
      .addColumn('run_id', integer, references('import_run.id'))
      .addColumn('seq', integer, required)
      .addColumn('line', integer)
      .addColumn('record_id', 'text')
      .addColumn('code', 'text', required)
      .addColumn('message', 'text', required)
      .addPrimaryKeyConstraint('import_issue_pk', ['run_id', 'seq']),
    table('import_event')
      .addColumn('run_id', integer, references('import_run.id'))
      .addColumn('seq', integer, required)
      .addColumn('at', 'text', required)
      .addColumn('kind', 'text', required)
      .addColumn('facts', 'text', required)
      .addPrimaryKeyConstraint('import_event_pk', ['run_id', 'seq']),
    table('import_checkpoint')
      .addColumn('run_id', integer, (column) =>
        column.primaryKey().references('import_run.id').onDelete('cascade'),
      )
      .addColumn('kind', 'text', required)
      .addColumn('digest', 'text', required)
      .addColumn('value', 'text', required),
    table('connector_checkpoint')
      .addColumn('source_id', integer, references('source.id'))
      .addColumn('kind', 'text', required)
      .addColumn('digest', 'text', required)
      .addColumn('value', 'text', required)
      .addColumn('saved', 'text', required)
      .addPrimaryKeyConstraint('connector_checkpoint_pk', ['source_id', 'kind']),
  );
}

async function createAccounts({ integer, table, numbered }: Make): Promise<void> {
  await run(
    numbered('admin_account')
      .addColumn('name', 'text', required)
      .addColumn('name_key', 'text', (column) => column.notNull().unique())
      .addColumn('password_hash', 'text', required)
      .addColumn('created', 'text', required),
    numbered('invitation')
      .addColumn('name', 'text', required)
      .addColumn('hash', 'text', (column) => column.notNull().unique())
      .addColumn('created', 'text', required)
      .addColumn('expires', 'text', required)
      .addColumn('accepted', 'text'),
    table('session')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('account_id', integer, references('admin_account.id'))
      .addColumn('created', 'text', required)
      .addColumn('expires', 'text', required),
    numbered('audit_event', 'seq')
      .addColumn('time', 'text', required)
      .addColumn('action', 'text', required)
      .addColumn('actor_kind', 'text', required)
      .addColumn('actor_name', 'text')
      .addColumn('client_address', 'text')
      .addColumn('subject_id', 'text', required)
      .addColumn('subject_name', 'text', required)
      .addColumn('before', 'text')
      .addColumn('after', 'text'),
  );
}

/** Index names are read by `constraints.ts` to tell which rule a write broke. */
async function createIndexes(db: Db): Promise<void> {
  const index = db.schema.createIndex.bind(db.schema);
  const live = sql<boolean>`state <> 'archived'`;
  const existing = sql<boolean>`state = 'existing'`;
  const unique = [
    index('source_name').on('source').columns(['name_key']),
    index('user_name_live').on('user').columns(['user_name_key']).where(live),
    index('source_link_external').on('source_link').columns(['source_id', 'resource_type', 'external_id']),
    index('group_name_live').on('group_').columns(['group_type', 'display_name_key']).where(existing),
    index('membership_primary')
      .on('membership')
      .columns(['user_id', 'primary_type'])
      .where('primary_type', 'is not', null),
    index('import_run_ticket').on('import_run').column('ticket').where('ticket', 'is not', null),
  ];
  for (const builder of unique) await builder.unique().execute();
  const plain: [name: string, table: string, columns: string[]][] = [
    ['user_owner', 'user', ['owner_source_id', 'id', 'state']],
    ['user_email_value', 'user_email', ['value_key', 'user_id']],
    ['source_link_resource', 'source_link', ['resource_type', 'resource_id']],
    ['group_name', 'group_', ['display_name_key', 'id', 'state']],
    ['group_owner', 'group_', ['owner_source_id', 'id', 'state']],
    // With all that an answer shows of a membership: what it is a part of is looked up once.
    ['membership_user', 'membership', ['user_id', 'group_id', 'primary_type']],
    ['pending_reference_key', 'pending_reference', ['source_id', 'reference_key']],
    ['pending_reference_resource', 'pending_reference', ['kind', 'resource_id']],
    ['journal_resource', 'journal', ['resource_type', 'resource_id', 'seq']],
    ['import_run_source', 'import_run', ['source_id', 'id']],
    ['import_run_status', 'import_run', ['status', 'id']],
    ['import_plan_record', 'import_plan', ['run_id', 'kind', 'record_id']],
  ];
  for (const [name, table, columns] of plain) await index(name).on(table).columns(columns).execute();
  // What lists walk, by id or sorted, without looking at a row: none of those that have gone is among them.
  const walked: [name: string, table: string, columns: string[], isThere: typeof live][] = [
    ['user_live', 'user', ['id'], live],
    ['user_display_name', 'user', ['display_name_key', 'id'], live],
    ['user_family_name', 'user', ['family_name_key', 'id'], live],
    ['user_employee_number', 'user', ['employee_number_key', 'id'], live],
    ['user_modified', 'user', ['modified', 'id'], live],
    ['group_live', 'group_', ['id'], existing],
    ['group_modified', 'group_', ['modified', 'id'], existing],
  ];
  for (const [name, table, columns, isThere] of walked)
    await index(name).on(table).columns(columns).where(isThere).execute();
  // Of the rows of a plan, most either wait for no phase or are about nobody who is there already.
  const some: [name: string, columns: string[], column: string][] = [
    ['import_plan_phase', ['run_id', 'phase', 'seq'], 'phase'],
    ['import_plan_resource', ['run_id', 'kind', 'resource_id'], 'resource_id'],
  ];
  for (const [name, columns, column] of some)
    await index(name).on('import_plan').columns(columns).where(column, 'is not', null).execute();
  await index('user_manager').on('user').column('manager_id').where('manager_id', 'is not', null).execute();
  await index('import_plan_chain')
    .on('import_plan')
    .columns(['run_id', 'chain'])
    .where('chain', 'is not', null)
    .execute();
  await index('user_inactive').on('user').columns(['id']).where(sql<boolean>`state = 'inactive'`).execute();
}
