import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Dialect } from '../database.ts';

/** Ids in a block: 2 to this power. Half a thousand blocks for a million people. */
const blockBits = sql`11`;

interface Counted {
  readonly table: 'user' | 'group_';
  /** Its name, and the state in which a resource is no longer there for anybody, as texts of SQL. */
  readonly resourceType: RawBuilder<unknown>;
  readonly gone: RawBuilder<unknown>;
}

const counted: readonly Counted[] = [
  { table: 'user', resourceType: sql`'User'`, gone: sql`'archived'` },
  { table: 'group_', resourceType: sql`'Group'`, gone: sql`'deleted'` },
];

/**
 * Keeps in `resource_block` how many resources of each block of ids are there, so that a list knows its length and
 * the place of any page without counting rows (docs/adr/0008). Triggers, so that no door can forget it.
 */
export async function countLiveResources(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  if (dialect === 'postgres') for (const statement of resourceChange) await statement.execute(db);
  for (const each of counted) {
    const statements = dialect === 'sqlite' ? sqliteTriggers(each) : postgresTriggers(each);
    for (const statement of statements) await statement.execute(db);
  }
}

function sqliteTriggers({ table, resourceType, gone }: Counted): RawBuilder<unknown>[] {
  return [
    sql`create trigger ${name(table, 'created')} after insert on ${sql.table(table)}
      when new.state <> ${gone}
      begin ${add(resourceType)}; end`,
    sql`create trigger ${name(table, 'ended')} after update of state on ${sql.table(table)}
      when old.state <> ${gone} and new.state = ${gone}
      begin ${subtract(resourceType)}; end`,
    sql`create trigger ${name(table, 'restored')} after update of state on ${sql.table(table)}
      when old.state = ${gone} and new.state <> ${gone}
      begin ${add(resourceType)}; end`,
  ];
}

/**
 * One row of `resource_change` for each block that a statement changes, applied at the commit: a transaction holds the
 * row of a block as shortly as can be, and waits for nothing else while it does, so that two of them do not wait for
 * each other.
 */
function postgresTriggers({ table, resourceType, gone }: Counted): RawBuilder<unknown>[] {
  return [
    sql`create function ${name(table, 'created')}() ${plpgsql(sql`
      insert into resource_change (resource_type, block, change)
      select ${resourceType}, id >> ${blockBits}, count(*) from created where state <> ${gone} group by 2`)}`,
    sql`create trigger ${name(table, 'created')} after insert on ${sql.table(table)}
      referencing new table as created
      for each statement execute function ${name(table, 'created')}()`,
    sql`create function ${name(table, 'changed')}() ${plpgsql(sql`
      insert into resource_change (resource_type, block, change)
      values (${resourceType}, new.id >> ${blockBits}, case new.state when ${gone} then -1 else 1 end)`)}`,
    sql`create trigger ${name(table, 'changed')} after update of state on ${sql.table(table)}
      for each row when ((old.state = ${gone}) <> (new.state = ${gone}))
      execute function ${name(table, 'changed')}()`,
  ];
}

const resourceChange: readonly RawBuilder<unknown>[] = [
  sql`create table resource_change (id bigint generated always as identity primary key,
    resource_type text not null, block bigint not null, change bigint not null)`,
  sql`create function resource_change_apply() ${plpgsql(sql`
    insert into resource_block (resource_type, block, live) values (new.resource_type, new.block, new.change)
      on conflict (resource_type, block) do update set live = resource_block.live + excluded.live, changes = resource_block.changes + 1;
    delete from resource_change where id = new.id`)}`,
  sql`create constraint trigger resource_change_apply after insert on resource_change
    deferrable initially deferred for each row execute function resource_change_apply()`,
];

function plpgsql(body: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`returns trigger language plpgsql as $$ begin ${body}; return null; end $$`;
}

function name(table: string, suffix: string): RawBuilder<unknown> {
  return sql.id(`${table.replace('_', '')}_live_${suffix}`);
}

function add(resourceType: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into resource_block (resource_type, block, live)
    values (${resourceType}, new.id >> ${blockBits}, 1)
    on conflict (resource_type, block)
    do update set live = resource_block.live + 1, changes = resource_block.changes + 1`;
}

function subtract(resourceType: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update resource_block set live = live - 1, changes = changes + 1
    where resource_type = ${resourceType} and block = new.id >> ${blockBits}`;
}
