import { Database } from 'bun:sqlite';
import { writeFileSync } from 'node:fs';
import pg from 'pg';

/** Columns of the people that connectors read, called like attributes: the default mapping of `csv` and `sql` knows them. */
export const personColumns = [
  'id',
  'username',
  'active',
  'firstname',
  'surname',
  'displayname',
  'email',
  'jobtitle',
  'employeenumber',
  'jobstartdate',
  'culture',
  'timezone',
  'bio',
  'department',
] as const;

function personOf(number: number): readonly string[] {
  const first = `Åse-${number % 977}`;
  const last = `O'Nilsen ${number % 4_099}`;
  const bio = `Works on "${number % 13}", and writes <a lot> & more about it.\nSecond line.`;
  const values = [String(number), `person${number}`, 'true', first, last, `${first} ${last}`];
  return [
    ...values,
    `person${number}@example.com`,
    'Engineer, senior',
    `E${number}`,
    '2020-01-31',
    'nb-NO',
    'Europe/Oslo',
    bio,
    `Department ${number % 40}`,
  ];
}

export function writePeopleCsv(path: string, users: number): void {
  const quoted = (value: string) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const rows = [personColumns.join(',')];
  for (let number = 1; number <= users; number += 1) rows.push(personOf(number).map(quoted).join(','));
  writeFileSync(path, `${rows.join('\n')}\n`);
}

export function writePeopleSqlite(path: string, users: number): void {
  const database = new Database(path);
  database.run(`create table person (${personColumns.map((name) => `${name} text`).join(', ')})`);
  const insert = database.prepare(`insert into person values (${personColumns.map(() => '?').join(', ')})`);
  database.transaction(() => {
    for (let number = 1; number <= users; number += 1) insert.run(...personOf(number));
  })();
  database.close();
}

const rowsOfInsert = 1_000;

export async function writePeoplePostgres(url: string, users: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create table person (${personColumns.map((name) => `${name} text`).join(', ')})`);
  const columns = personColumns.map((_, at) => `$${at + 1}::text[]`).join(', ');
  for (let from = 1; from <= users; from += rowsOfInsert) {
    const length = Math.min(rowsOfInsert, users - from + 1);
    const people = Array.from({ length }, (_, at) => personOf(from + at));
    const lists = personColumns.map((_, at) => people.map((person) => person[at]));
    await client.query(`insert into person select * from unnest(${columns})`, lists);
  }
  await client.end();
}
