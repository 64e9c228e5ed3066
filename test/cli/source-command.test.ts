import { describe, expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { holdSource } from '../../src/directory/brake-store.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { readFailure, readJson, Workplace } from './support.ts';

describe('rollcall source create', () => {
  test('prints one object with id, token and base URL for a SCIM source', async () => {
    using place = new Workplace();
    const made = await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
    expect(made).toMatchObject({ id: 1, kind: 'scim', name: 'Okta', active: true });
    expect(made.baseUrl).toBe('http://127.0.0.1:8080/api/v2/scim/v2');
    expect(made.token).toMatch(/^rollcall_scim_[\w-]{43}[0-9a-z]{7}$/);
    expect(made).not.toHaveProperty('uploadPath');
  });

  test('prints the upload path instead for a general source', async () => {
    using place = new Workplace();
    const made = await place.json('source', 'create', '--kind', 'general', '--name', 'HR');
    expect(made.uploadPath).toBe('/api/platformsync/1/upload');
    expect(made.token).toMatch(/^rollcall_upload_/);
    expect(made).not.toHaveProperty('baseUrl');
  });

  test('takes settings after one --set, and after several', async () => {
    using place = new Workplace();
    const words = ['--set', 'onMatch=reject', 'rateLimit=0', '--set', 'logBodies=true'];
    const made = await place.json('source', 'create', '--kind', 'scim', '--name', 'Entra', ...words);
    expect(made.settings).toMatchObject({
      onMatch: 'reject',
      rateLimit: 0,
      logBodies: true,
      dialect: 'compat',
    });
  });

  test('takes the base URL from the public URL, else from host and port', async () => {
    using place = new Workplace();
    const create = ['source', 'create', '--kind', 'scim', '--name'];
    const known = await place.json(...create, 'a', '--public-url', 'https://id.example.org/');
    expect(known.baseUrl).toBe('https://id.example.org/api/v2/scim/v2');
    const local = await place.json(...create, 'b', '--host', '::1', '--port', '9000');
    expect(local.baseUrl).toBe('http://[::1]:9000/api/v2/scim/v2');
  });

  test('makes the data folder for its owner alone', async () => {
    using place = new Workplace();
    await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
    expect(statSync(place.data).mode & 0o777).toBe(0o700);
    expect(statSync(join(place.data, 'secret.key')).mode & 0o777).toBe(0o600);
  });

  test('makes every one of several sources that are created at once on an empty folder', async () => {
    using place = new Workplace();
    const create = ['source', 'create', '--kind', 'scim', '--name'];
    const made = await Promise.all(['a', 'b', 'c', 'd'].map((name) => place.json(...create, name)));
    expect(made.map(({ id }) => id).toSorted()).toEqual([1, 2, 3, 4]);
    for (const { name, token } of made) {
      expect((await place.json('source', 'token', String(name))).token).toBe(token);
    }
  });

  test('makes one of two sources of the same name, and says so of the other', async () => {
    using place = new Workplace();
    const create = ['source', 'create', '--kind', 'scim', '--json', '--name'];
    const outcomes = await Promise.all([place.run(...create, 'Okta'), place.run(...create, 'OKTA')]);
    const [good, bad] = outcomes.toSorted((a, b) => a.status - b.status);
    if (good === undefined || bad === undefined) throw new Error('two outcomes expected');
    expect(readJson(good).id).toBe(1);
    expect(readFailure(bad)).toMatch(/^There is a source named "okta" already; choose another name\.$/i);
  });

  const refusals: [what: string, words: string[], sentence: string][] = [
    [
      'another kind',
      ['--kind', 'ldap', '--name', 'x'],
      'The kind of a source is scim or general, not "ldap".',
    ],
    ['a missing name', ['--kind', 'scim'], "Required option '--name <NAME>' not specified."],
    [
      'an empty name',
      ['--kind', 'scim', '--name', ' '],
      'A source needs a name of 1 to 200 printable characters.',
    ],
    [
      'a name of digits',
      ['--kind', 'scim', '--name', '1'],
      'A source needs a name with more than digits: "1" could be the id of another.',
    ],
    [
      'a setting without value',
      ['--kind', 'scim', '--name', 'x', '--set', 'onMatch'],
      'Write a setting as key=value, not "onMatch".',
    ],
    [
      'a wrong value',
      ['--kind', 'scim', '--name', 'x', '--set', 'onMatch=no'],
      'The setting onMatch takes one of merge, return, reject, not "no".',
    ],
    [
      'a setting of the other kind',
      ['--kind', 'scim', '--name', 'x', '--set', 'guardPercent=1'],
      'A SCIM source has no setting "guardPercent"; it has: onMatch, dialect, logBodies, scope, rateLimit, unknownMembers, brakeLimit, brakeAlarm.',
    ],
  ];
  test.each(refusals)('refuses %s with one sentence', async (_what, words, sentence) => {
    using place = new Workplace();
    expect(readFailure(await place.run('source', 'create', ...words, '--json'))).toBe(sentence);
  });
});

describe('rollcall source', () => {
  async function withSource(): Promise<Workplace & { token?: unknown }> {
    const place = new Workplace();
    const { token } = await place.json('source', 'create', '--kind', 'general', '--name', 'Human Resources');
    return Object.assign(place, { token });
  }

  test('list shows every source and no token', async () => {
    using place = await withSource();
    await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
    const { sources } = await place.json('source', 'list');
    expect(sources).toMatchObject([
      { id: 1, name: 'Human Resources' },
      { id: 2, name: 'Okta' },
    ]);
    expect(JSON.stringify(sources)).not.toContain('rollcall_');
    const { stdout } = await place.run('source', 'list');
    expect(stdout).toMatch(/^ID {2}KIND .*\n1 {3}general .*\n2 {3}scim .*\n$/);
  });

  test('list of a folder that is not there is a failure, and makes none', async () => {
    using place = new Workplace();
    expect(readFailure(await place.run('source', 'list'))).toStartWith('There is no data folder at ');
    expect(() => statSync(place.data)).toThrow();
  });

  test('set changes what is named and nothing else, by name or id', async () => {
    using place = await withSource();
    await place.json('source', 'set', 'human resources', 'guardPercent=20', 'defaultCompany=');
    const { settings } = await place.json('source', 'set', '1', 'actionMissingDeletedUsers=x');
    expect(settings).toMatchObject({
      guardPercent: 20,
      actionMissingDeletedUsers: 'x',
      actionDisabledUsers: 'd',
    });
  });

  test('set of a source that is not there is a failure', async () => {
    using place = await withSource();
    const outcome = await place.run('source', 'set', 'nobody', 'guardPercent=20');
    expect(readFailure(outcome)).toBe(
      'There is no source "nobody"; "rollcall source list" shows those there are.',
    );
  });

  test('token shows the token again, and another one after --rotate', async () => {
    using place = await withSource();
    expect((await place.json('source', 'token', '1')).token).toBe(place.token);
    const rotated = await place.json('source', 'token', '1', '--rotate', '--overlap-days', '2');
    expect(rotated.token).not.toBe(place.token);
    expect((await place.json('source', 'token', '1')).token).toBe(rotated.token);
  });

  test('token refuses an overlap that means nothing', async () => {
    using place = await withSource();
    expect(readFailure(await place.run('source', 'token', '1', '--overlap-days', '2'))).toBe(
      '--overlap-days goes with --rotate.',
    );
    expect(readFailure(await place.run('source', 'token', '1', '--rotate', '--overlap-days', '1e3'))).toBe(
      '--overlap-days takes a whole number from 0 to 365, not "1e3".',
    );
  });

  test('token says that the key in the folder is another one', async () => {
    using place = await withSource();
    writeFileSync(join(place.data, 'secret.key'), 'ab'.repeat(32));
    expect(readFailure(await place.run('source', 'token', '1'))).toBe(
      'The secret was sealed under another key; put the right secret.key back into the data folder.',
    );
  });

  test('deactivate and activate turn the source off and on', async () => {
    using place = await withSource();
    expect((await place.json('source', 'deactivate', 'Human Resources')).active).toBe(false);
    expect((await place.json('source', 'activate', '1')).active).toBe(true);
    expect(readFailure(await place.run('source', 'activate', '7'))).toStartWith('There is no source "7"');
  });
});

describe('rollcall source release', () => {
  /** A source that the brake holds since the first of January 2030. */
  async function withHeld(): Promise<Workplace> {
    const place = new Workplace();
    const settings = ['--set', 'brakeLimit=10'];
    await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta prod', ...settings);
    const database = openSqlite({ path: join(place.data, 'rollcall.db') });
    await database.write((tx) => holdSource(tx, 1, '2030-01-01T00:00:00.000Z'));
    await database.close();
    return place;
  }

  test('lets a source go on that list, show and doctor say is held', async () => {
    using place = await withHeld();
    expect((await place.run('source', 'list')).stdout).toMatch(/^1 +scim +held +Okta prod/m);
    const heldSince = '2030-01-01T00:00:00.000Z';
    expect(await place.json('source', 'show', 'okta prod')).toMatchObject({ heldSince, endedLastHour: 0 });
    const doctor = await place.run('doctor');
    expect(doctor.status).toBe(1);
    expect(doctor.stdout).toContain(
      'It holds deactivations and deletions of "Okta prod"; "rollcall source release',
    );
    const released = await place.json('source', 'release', 'okta prod', '--minutes', '5');
    expect(released).toMatchObject({ id: 1, name: 'Okta prod', wasHeldSince: heldSince, heldSince: null });
    const show = await place.json('source', 'show', '1');
    expect(show).toMatchObject({ heldSince: null, releasedUntil: released.releasedUntil });
    expect((await place.run('source', 'list')).stdout).toMatch(/^1 +scim +yes +Okta prod/m);
    expect((await place.run('doctor')).stdout).toContain('no source is held');
  }, 60_000);

  test('says so of a source that is not held, and refuses one that has no brake', async () => {
    using place = new Workplace();
    await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
    await place.json('source', 'create', '--kind', 'general', '--name', 'HR');
    expect((await place.run('source', 'release', 'Okta')).stdout).toMatch(/^The source was not held; until /);
    const sentence = 'The brake is for SCIM sources; imports of "HR" have a guard.';
    expect(readFailure(await place.run('source', 'release', 'HR'))).toBe(sentence);
  });
});
