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
 * Deferred to the commit: a transaction holds the row of a block for as short as can be, and waits for nothing else
 * while it does, so that two of them do not wait for each other.
 */
function postgresTriggers({ table, resourceType, gone }: Counted): RawBuilder<unknown>[] {
  const body = (change: RawBuilder<unknown>) =>
    sql`returns trigger language plpgsql as $$ begin ${change}; return null; end $$`;
  return [
    sql`create function ${name(table, 'add')}() ${body(add(resourceType))}`,
    sql`create function ${name(table, 'subtract')}() ${body(subtract(resourceType))}`,
    sql`create constraint trigger ${name(table, 'created')} after insert on ${sql.table(table)}
      deferrable initially deferred for each row
      when (new.state <> ${gone}) execute function ${name(table, 'add')}()`,
    sql`create constraint trigger ${name(table, 'ended')} after update of state on ${sql.table(table)}
      deferrable initially deferred for each row
      when (old.state <> ${gone} and new.state = ${gone})
      execute function ${name(table, 'subtract')}()`,
    sql`create constraint trigger ${name(table, 'restored')} after update of state on ${sql.table(table)}
      deferrable initially deferred for each row
      when (old.state = ${gone} and new.state <> ${gone})
      execute function ${name(table, 'add')}()`,
  ];
}

function name(table: string, suffix: string): RawBuilder<unknown> {
  return sql.id(`${table.replace('_', '')}_live_${suffix}`);
}

function add(resourceType: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into resource_block (resource_type, block, live)
    values (${resourceType}, new.id >> ${blockBits}, 1)
    on conflict (resource_type, block) do update set live = resource_block.live + 1`;
}

function subtract(resourceType: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update resource_block set live = live - 1
    where resource_type = ${resourceType} and block = new.id >> ${blockBits}`;
}
