import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type GeneratedProfile, generateProfileXml } from '../test/support/generate-profile-xml.ts';

/** The files of one import sequence. */
export interface ImportFiles {
  readonly users: number;
  readonly bytes: number;
  readonly first: string;
  /** The same people; the bytes differ in a comment. */
  readonly touched: string;
  /** One person in a hundred has moved to another department. */
  readonly changed: string;
}

/** Name and id that the files give; the source that takes them must have both. */
export const fileSource = { name: 'Bench', id: 1 } as const;

export async function makeImportFiles(folder: string, users: number): Promise<ImportFiles> {
  const profile: GeneratedProfile = { users, domain: fileSource.name, ldapid: String(fileSource.id) };
  const [first, touched, changed] = [
    join(folder, 'first.xml'),
    join(folder, 'touched.xml'),
    join(folder, 'changed.xml'),
  ] as const;
  await write(first, generateProfileXml(profile));
  await write(touched, withComment(generateProfileXml(profile)));
  await write(changed, generateProfileXml({ ...profile, moved: 0.01 }));
  return { users, bytes: Bun.file(first).size, first, touched, changed };
}

async function write(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  await pipeline(chunks, createWriteStream(file));
}

async function* withComment(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
  yield new TextEncoder().encode('<!-- touched -->\n');
}
