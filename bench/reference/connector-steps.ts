// What a connector's run cannot do without: reading the source, and writing the XML of each person. It maps nothing, checks
// nothing, and knows the columns. Usage: connector-steps csv|sqlite|postgres PLACE

import { Database } from 'bun:sqlite';
import { createReadStream } from 'node:fs';
import pg from 'pg';
import Cursor from 'pg-cursor';
import { openTable } from '../../connectors/csv/table.ts';
import type { LeafName, UserRecord } from '../../src/xml/records.ts';
import { writeHead, writeUser } from '../../src/xml/write.ts';
import { personColumns } from '../connector-source.ts';

type Row = Readonly<Record<string, unknown>>;

const leafNames = personColumns.filter((name) => name !== 'id' && name !== 'username') as LeafName[];
const rowsOfBatch = 500;
const pieceCharacters = 64 * 1024;

async function* readCsv(place: string): AsyncGenerator<readonly Row[]> {
  const format = { encoding: 'utf-8', delimiter: ',', quote: '"', hasHeader: true } as const;
  const chunks = createReadStream(place, { highWaterMark: 256 * 1024 });
  const table = await openTable(chunks, { format, place });
  if (table !== undefined) yield* table.records;
}

async function* readSqlite(place: string): AsyncGenerator<readonly Row[]> {
  const database = new Database(place, { readonly: true });
  for (const row of database.prepare<Row, []>('select * from person').iterate()) yield [row];
}

async function* readPostgres(place: string): AsyncGenerator<readonly Row[]> {
  const client = new pg.Client({ connectionString: place });
  await client.connect();
  const cursor = client.query(new Cursor<Row>('select * from person'));
  for (let rows = await cursor.read(rowsOfBatch); rows.length > 0; rows = await cursor.read(rowsOfBatch))
    yield rows;
  await client.end();
}

function toRecord(row: Row): UserRecord {
  const leaves: Partial<Record<LeafName, { value: string; applyBlank: boolean }>> = {};
  for (const name of leafNames) leaves[name] = { value: String(row[name]), applyBlank: false };
  const { id, username } = row;
  const lists = { phones: [], ims: [], addresses: [], additionalfields: [] };
  return { line: 0, id: String(id), username: String(username), leaves, ...lists };
}

const readers = { csv: readCsv, sqlite: readSqlite, postgres: readPostgres };

async function main([kind, place = '']: readonly string[]): Promise<void> {
  const out = Bun.stdout.writer();
  const options = new Map([['mode', 'full']]);
  let text = `<?xml version="1.0" encoding="UTF-8"?>\n<syncdata version="1">\n${writeHead({ domain: 'Bench', ldapid: '1', options })}  <users>\n`;
  for await (const rows of readers[kind as keyof typeof readers](place)) {
    for (const row of rows) text += writeUser(toRecord(row));
    if (text.length < pieceCharacters) continue;
    out.write(text);
    await out.flush();
    text = '';
  }
  out.write(`${text}  </users>\n</syncdata>\n`);
  await out.end();
}

await main(Bun.argv.slice(2));
