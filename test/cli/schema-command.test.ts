import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Json, readFailure, readJson, Workplace } from './support.ts';

const root = join(import.meta.dir, '..', '..');
const additionalFields = 'urn:ietf:params:scim:schemas:extension:platformadditionalfields:2.0:User';

describe('rollcall schema', () => {
  test('xsd prints the published schema', async () => {
    using place = new Workplace();
    const { stdout } = await place.runPlain('schema', 'xsd');
    expect(stdout).toBe(readFileSync(join(root, 'schemas', 'profile-sync.xsd'), 'utf8'));
  });

  test('scim prints every schema, with the additional fields of a data folder that is named', async () => {
    using place = new Workplace();
    await place.json('field', 'create', '--label', 'Shoe size');
    const builtIn = readJson(await place.runPlain('schema', 'scim', '--json'));
    const configured = await place.json('schema', 'scim');
    const find = ({ Resources }: Json) => (Resources as Json[]).find(({ id }) => id === additionalFields);
    expect(builtIn.totalResults).toBe((builtIn.Resources as Json[]).length);
    expect(find(builtIn)).toBeUndefined();
    expect(find(configured)?.attributes).toMatchObject([{ name: 'shoe_size' }]);
  });
});

describe('rollcall validate', () => {
  const sample = join(root, 'schemas', 'samples', 'full.xml');

  test('says what a valid file holds', async () => {
    using place = new Workplace();
    const verdict = readJson(await place.runPlain('validate', sample, '--json'));
    expect(verdict).toMatchObject({ valid: true, ldapid: '1' });
    expect(verdict.users).toBeNumber();
  });

  test('prints every error with its place, and fails', async () => {
    using place = new Workplace();
    const file = join(place.folder, 'bad.xml');
    await Bun.write(file, readFileSync(sample, 'utf8').replace('<users>', '<users><person/>'));
    const { status, stdout, stderr } = await place.runPlain('validate', file, '--json');
    expect(status).toBe(1);
    expect(stderr).toBe(`rollcall: The file ${file} is not valid: one error.\n`);
    const { valid, errors } = JSON.parse(stdout) as { valid: boolean; errors: Json[] };
    expect(valid).toBe(false);
    expect(errors).toMatchObject([{ path: '/syncdata/users/person[1]' }]);
    const { stdout: text } = await place.runPlain('validate', file);
    expect(text).toMatch(/^\d+:\d+ \/syncdata\/users\/person\[1\] \S.*\n$/);
  });

  test('says that a file cannot be read', async () => {
    using place = new Workplace();
    expect(readFailure(await place.runPlain('validate', 'none.xml'))).toBe(
      'The file none.xml cannot be read: there is none.',
    );
    expect(readFailure(await place.runPlain('validate', '.'))).toBe('. is not a file.');
  });
});
