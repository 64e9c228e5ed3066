// The limits of an import: its steps alone, and all of them done barely in one process.
// Nothing here plans, journals, matches, reports problems or survives a kill; that is what the product adds.
// Usage: import-steps.ts STEP FILE DATABASE PEOPLE; prints one JSON object with `ms` and `peakMib`.

import { readFileSync } from 'node:fs';
import { loadProfileSchema } from '../../src/xml/profile-schema.ts';
import { validateDocument } from '../../src/xml/validate.ts';
import { type Person, PersonReader, readText } from './person-reader.ts';
import { PersonTable } from './person-table.ts';

interface Inputs {
  readonly file: string;
  readonly database: string;
  /** In the file. */
  readonly users: number;
}

/** Each step resolves with the number of people that it handled. */
const steps: Readonly<Record<string, (inputs: Inputs) => Promise<number>>> = {
  saxes: parseAlone,
  validation: validateAlone,
  upsert: upsertAlone,
  whole: importBarely,
  identical: digestFile,
};

async function parseAlone({ file }: Inputs): Promise<number> {
  const reader = new PersonReader();
  let people = 0;
  for await (const text of readText(file)) people += reader.push(text).length;
  reader.end();
  return people;
}

/** The product's own validation without its process, spool and answer. */
async function validateAlone({ file }: Inputs): Promise<number> {
  const result = await validateDocument(Bun.file(file).stream());
  if (!result.valid) throw new Error(`The generated file is not valid: ${result.errors[0]?.message}`);
  return result.users;
}

/** Rows of the size that the file's people have, without the file. */
async function upsertAlone({ database, users }: Inputs): Promise<number> {
  const document = 'x'.repeat(900);
  const table = new PersonTable(database);
  for (let i = 1; i <= users; i += 1) {
    table.upsert({ id: `p${i}`, userName: `user.${i}@example.com`, document }, digestOf(`p${i}`));
  }
  table.close();
  return users;
}

/** Parse, judge, digest, compare, write. On a database that has the people already, only what differs is written. */
async function importBarely({ file, database }: Inputs): Promise<number> {
  const schema = await loadProfileSchema();
  const table = new PersonTable(database);
  const known = table.digests();
  const reader = new PersonReader();
  const windows = new Windows();
  let people = 0;
  const take = (found: readonly Person[]) => {
    people += found.length;
    for (const person of found) {
      const digest = digestOf(person.document);
      if (known.get(person.id) !== digest) table.upsert(person, digest);
    }
  };
  for await (const text of readText(file)) {
    take(reader.push(text));
    requireValid(schema, windows.push(text));
  }
  requireValid(schema, windows.rest());
  reader.end();
  table.close();
  return people;
}

type Schema = Awaited<ReturnType<typeof loadProfileSchema>>;

function requireValid(schema: Schema, document: string | undefined): void {
  if (document === undefined || schema.check(document).kind === 'valid') return;
  throw new Error(`The generated file is not valid in the window that begins with ${document.slice(0, 400)}`);
}

const windowCharactersMin = 1024 * 1024;
const laterHead =
  '<syncdata version="1"><syncoptions domain="-" ldapid="0"><option name="-">-</option></syncoptions><users>';
const recordEnd = '</user>';

/** Cuts the text behind a record, about 1,000 of them at a time, into documents that the schema can judge. */
class Windows {
  #pieces: string[] = [];
  #characters = 0;
  #head = '';

  push(text: string): string | undefined {
    this.#pieces.push(text);
    this.#characters += text.length;
    if (this.#characters < windowCharactersMin) return undefined;
    const all = this.#pieces.join('');
    const end = all.lastIndexOf(recordEnd) + recordEnd.length;
    const window = `${this.#head}${all.slice(0, end)}</users></syncdata>`;
    this.#head = laterHead;
    this.#pieces = [all.slice(end)];
    this.#characters = all.length - end;
    return window;
  }

  rest(): string {
    return this.#head + this.#pieces.join('');
  }
}

function digestOf(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}

/** Of a file that is the one imported last, nothing but its digest needs to be known. */
async function digestFile({ file, users }: Inputs): Promise<number> {
  const hasher = new Bun.CryptoHasher('sha256');
  for await (const chunk of Bun.file(file).stream()) hasher.update(chunk);
  hasher.digest('hex');
  return users;
}

const [name = '', file = '', database = '', count = ''] = Bun.argv.slice(2);
const users = Number(count);
const step = steps[name];
if (step === undefined)
  throw new Error(`There is no step "${name}"; there are ${Object.keys(steps).join(', ')}.`);
const startedMs = performance.now();
const handled = await step({ file, database, users });
const ms = performance.now() - startedMs;
if (handled !== users) throw new Error(`The step ${name} handled ${handled} people instead of ${users}.`);
const peakKib = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
console.log(JSON.stringify({ ms, peakMib: Number(peakKib) / 1_024 }));
