import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type Json, readFailure, Workplace } from './support.ts';

const user = (name: string) =>
  `<user id="${name}" username="${name}"><firstname>${name}</firstname><additionalfields/></user>`;

const names = (count: number) => Array.from({ length: count }, (_, index) => `person${index}`);

/** A folder with a general source "HR" of id 1. */
async function withSource(): Promise<Workplace> {
  const place = new Workplace();
  await place.json('source', 'create', '--kind', 'general', '--name', 'HR');
  return place;
}

async function write(place: Workplace, users: readonly string[], domain = 'HR'): Promise<string> {
  const file = join(place.folder, 'people.xml');
  const head = `<syncoptions domain="${domain}" ldapid="1"><option name="syncCompanies">true</option></syncoptions>`;
  await Bun.write(file, `<syncdata version="1">${head}<users>${users.map(user).join('')}</users></syncdata>`);
  return file;
}

function importInto(place: Workplace, file: string, ...words: string[]): Promise<Json> {
  return place.json('import', file, '--source', 'HR', ...words);
}

describe('rollcall import', () => {
  test('brings the people of a file into the directory without a server', async () => {
    using place = await withSource();
    const run = await importInto(place, await write(place, ['ann', 'bob']));
    expect(run).toMatchObject({ importId: 1, sourceId: 1, status: 'completed', users: 2, issues: [] });
    expect(run.counts).toMatchObject({ created: 2 });
    expect((await place.json('user', 'find', 'ann')).totalResults).toBe(1);
  });

  test('says of the same file that it is unchanged, and imports it again with --force', async () => {
    using place = await withSource();
    const file = await write(place, ['ann']);
    await importInto(place, file);
    expect(await importInto(place, file)).toMatchObject({ status: 'unchanged', importId: 1 });
    expect(await importInto(place, file, '--force')).toMatchObject({ status: 'completed', importId: 2 });
  });

  test('plans and changes nothing with --dry-run', async () => {
    using place = await withSource();
    const run = await importInto(place, await write(place, ['ann']), '--dry-run');
    expect(run).toMatchObject({ dryRun: true, planned: { created: 1 }, counts: { created: 0 } });
    expect((await place.json('user', 'find', 'ann')).totalResults).toBe(0);
  });

  test('leaves a run that the guard holds until --approve', async () => {
    using place = await withSource();
    await importInto(place, await write(place, names(30)));
    const file = await write(place, names(5));
    const held = await place.run('import', file, '--source', 'HR', '--json');
    expect(held.status).toBe(1);
    expect(JSON.parse(held.stdout)).toMatchObject({ status: 'awaiting-approval', counts: { disabled: 0 } });
    expect(held.stderr).toMatch(/^rollcall: Run 2 awaits approval; nothing has been changed\. [^\n]+\n$/);
    const approved = await importInto(place, file, '--approve');
    expect(approved).toMatchObject({ status: 'completed', counts: { disabled: 25 } });
  });

  test('shows what is wrong with a document, and fails', async () => {
    using place = await withSource();
    const file = await write(place, ['ann'], 'Sales');
    const { status, stdout, stderr } = await place.run('import', file, '--source', 'HR', '--json');
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: `rollcall: The file ${file} is not valid: one error.\n`,
    });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'refused', total: 1, errors: [{ line: 1 }] });
  });

  test('refuses a SCIM source, one that is not active, one that is not there, and a missing file', async () => {
    using place = await withSource();
    await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
    const file = await write(place, ['ann']);
    const failure = async (path: string, source: string) =>
      readFailure(await place.run('import', path, '--source', source));
    expect(await failure(file, 'Okta')).toBe(
      'The source "Okta" takes SCIM requests, not files; name a general source.',
    );
    expect(await failure(file, 'Sales')).toStartWith('There is no source "Sales"');
    expect(await failure('none.xml', 'HR')).toBe('The file none.xml cannot be read: there is none.');
    await place.json('source', 'deactivate', 'HR');
    expect(await failure(file, 'HR')).toBe(
      'The source "HR" is not active; a Power User, or "rollcall source activate", can change that.',
    );
  });
});
