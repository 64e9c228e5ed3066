import { describe, expect, test } from 'bun:test';
import { listAudit } from '../../src/security/audit.ts';
import { secretBox } from '../../src/security/secret-key.ts';
import { Configurations } from '../../src/settings/configuration.ts';
import { Sources } from '../../src/sources/sources.ts';
import { testClock } from '../support/app.ts';
import { dialects, openDatabase, openTestDatabase } from '../support/database.ts';

async function open(dialect: (typeof engines)[number]) {
  const place = await openTestDatabase(dialect);
  const clock = testClock();
  const parts = { database: place.database, secretBox: secretBox(Buffer.alloc(32, 3)), clock };
  return { ...place, clock, sources: new Sources(parts) };
}

const engines = dialects();

describe.each(engines)('Sources on %s', (dialect) => {
  test('makes an active source with defaults, and a token that names it', async () => {
    await using place = await open(dialect);
    const { source, token } = await place.sources.create('scim', '  Okta  ');
    expect(source).toMatchObject({ id: 1, kind: 'scim', name: 'Okta', active: true });
    expect(source.settings).toMatchObject({
      onMatch: 'merge',
      dialect: 'compat',
      scope: 'all',
      rateLimit: 100,
    });
    expect((await place.sources.authenticateScim(token)).source).toEqual(source as never);
    const stored = await place.database.read.selectFrom('source_token').selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain(token);
  });

  test('refuses a name that another source has, in other letters too', async () => {
    await using place = await open(dialect);
    await place.sources.create('scim', 'Okta');
    const outcomes = await Promise.allSettled([
      place.sources.create('general', 'OKTA '),
      place.sources.create('scim', 'New'),
      place.sources.create('scim', 'new'),
    ]);
    expect(outcomes[0]).toMatchObject({ status: 'rejected', reason: { kind: 'uniqueness' } });
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    expect(await place.sources.list()).toHaveLength(2);
    const tokens = await place.database.read.selectFrom('source_token').select('id').execute();
    expect(tokens).toHaveLength(2);
  });

  test.each(['', '  ', 'a\nb', 'x'.repeat(201)])('refuses the name %j', async (name) => {
    await using place = await open(dialect);
    await expect(place.sources.create('scim', name)).rejects.toMatchObject({ kind: 'invalidValue' });
  });

  test('is found by name, else by id', async () => {
    await using place = await open(dialect);
    await place.sources.create('scim', 'One');
    await place.sources.create('scim', '1st');
    expect((await place.sources.get('ONE')).id).toBe(1);
    expect((await place.sources.get('1ST')).id).toBe(2);
    expect((await place.sources.get('2')).id).toBe(2);
    await expect(place.sources.get('nobody')).rejects.toMatchObject({ kind: 'notFound' });
  });

  test('changes the settings that are named and keeps the others', async () => {
    await using place = await open(dialect);
    await place.sources.create('scim', 'Okta', { settings: { onMatch: 'reject' } });
    const { settings } = await place.sources.change('Okta', { settings: { logBodies: 'true' } });
    expect(settings).toMatchObject({ onMatch: 'reject', logBodies: true });
  });

  test('keeps two changes of settings that are made at once', async () => {
    await using place = await open(dialect);
    await place.sources.create('scim', 'Okta');
    for (const [logBodies, scope, dialectName] of [
      ['true', 'own', 'strict'],
      ['false', 'all', 'compat'],
      ['true', 'own', 'strict'],
    ] as const) {
      await Promise.all([
        place.sources.change('Okta', { settings: { logBodies } }),
        place.sources.change('Okta', { settings: { scope } }),
        place.sources.change('Okta', { settings: { dialect: dialectName } }),
      ]);
      const { settings } = await place.sources.get('Okta');
      expect(settings).toMatchObject({ logBodies: logBodies === 'true', scope, dialect: dialectName });
    }
  });

  test('lets a rotated token overlap for as long as it is told', async () => {
    await using place = await open(dialect);
    const { source, token } = await place.sources.create('scim', 'Okta');
    const second = await place.sources.rotateToken(source, 2);
    place.clock.advance(2 * 86_400 - 1);
    expect((await place.sources.authenticateScim(token)).source.id).toBe(source.id);
    place.clock.advance(1);
    await expect(place.sources.authenticateScim(token)).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect((await place.sources.authenticateScim(second)).source.id).toBe(source.id);
    const third = await place.sources.rotateToken(source, 0);
    await expect(place.sources.authenticateScim(second)).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect((await place.sources.authenticateScim(third)).source.id).toBe(source.id);
  });

  test('answers unauthenticated to a token of the other kind, forbidden when the source is not active', async () => {
    await using place = await open(dialect);
    const { token: scim } = await place.sources.create('scim', 'Okta');
    const { source, token: upload } = await place.sources.create('general', 'Files');
    const other = await place.sources.create('general', 'Other');
    const { sources } = place;
    for (const token of [undefined, '', 'x', upload])
      await expect(sources.authenticateScim(token)).rejects.toMatchObject({ kind: 'unauthenticated' });
    for (const [id, key] of [
      [String(source.id), scim],
      [String(source.id), other.token],
      [String(other.source.id), upload],
      [`0${source.id}`, upload],
      ['999', upload],
      [String(source.id), undefined],
    ] as const) {
      await expect(sources.authenticateUpload(id, key)).rejects.toMatchObject({ kind: 'unauthenticated' });
    }
    expect((await sources.authenticateUpload(String(source.id), upload)).source.name).toBe('Files');
    await sources.change('Files', { active: false });
    await expect(sources.authenticateUpload(String(source.id), upload)).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });

  test('forgets what it knew of a source or token that another process has changed', async () => {
    await using place = await open(dialect);
    const database = openDatabase(dialect, place.location);
    const secret = secretBox(Buffer.alloc(32, 3));
    const theirs = new Sources({ database, secretBox: secret, clock: place.clock });
    const { source, token } = await place.sources.create('scim', 'Okta');
    const seen = async () => (await place.sources.authenticateScim(token)).source;
    expect((await seen()).settings.rateLimit).toBe(100);
    await theirs.change('Okta', { settings: { rateLimit: '50' } });
    expect((await seen()).settings.rateLimit).toBe(50);
    await theirs.change('Okta', { active: false });
    await expect(seen()).rejects.toMatchObject({ kind: 'forbidden' });
    await theirs.change('Okta', { active: true });
    expect((await seen()).active).toBe(true);
    await theirs.rotateToken(source, 0);
    await expect(seen()).rejects.toMatchObject({ kind: 'unauthenticated' });
    await database.close();
  });

  test('tells the version of the configuration that a token was recognised under', async () => {
    await using place = await open(dialect);
    const { token } = await place.sources.create('scim', 'Okta');
    const configurations = new Configurations(place.database);
    const { configurationVersion } = await place.sources.authenticateScim(token);
    expect(await configurations.at(configurationVersion)).toBe(await configurations.current());
    await configurations.setSetting('countMax', '7');
    const after = await place.sources.authenticateScim(token);
    expect((await configurations.at(after.configurationVersion)).settings.countMax).toBe(7);
  });
});

describe.each(engines)('the audit log of sources on %s', (dialect) => {
  const by = { kind: 'administrator', name: 'Ann', clientAddress: '192.0.2.7' } as const;

  test('tells who did what, with what was before and after, and no token', async () => {
    await using place = await open(dialect);
    const { source, token } = await place.sources.create('scim', 'Okta', { settings: { scope: 'own' }, by });
    await place.sources.change(
      'Okta',
      { name: 'Okta EU', active: false, settings: { logBodies: 'true' } },
      by,
    );
    const renamed = await place.sources.get('Okta EU');
    await place.sources.revealToken(renamed, by);
    const second = await place.sources.rotateToken(renamed, 1);
    const { entries } = await listAudit(place.database.read, { limit: 10 });
    const told = entries.toReversed().map(({ action, before, after }) => ({ action, before, after }));
    expect(told).toEqual([
      {
        action: 'source.create',
        before: undefined,
        after: { kind: 'scim', name: 'Okta', active: true, scope: 'own' },
      },
      {
        action: 'source.change',
        before: { name: 'Okta', active: true, logBodies: false },
        after: { name: 'Okta EU', active: false, logBodies: true },
      },
      { action: 'source.token.view', before: undefined, after: undefined },
      {
        action: 'source.token.issue',
        before: undefined,
        after: { formerTokensEnd: new Date(place.clock().getTime() + 86_400_000).toISOString() },
      },
    ]);
    expect(entries.map(({ by: who }) => who)).toEqual([{ kind: 'command' }, by, by, by]);
    expect(entries[0]?.subject).toEqual({ id: String(source.id), name: 'Okta EU' });
    for (const each of [token, second]) expect(JSON.stringify(entries)).not.toContain(each.slice(-20));
  });

  test('does not grow when nothing has changed, or the change is refused', async () => {
    await using place = await open(dialect);
    await place.sources.create('scim', 'Okta');
    await place.sources.create('scim', 'Entra');
    await place.sources.change('Okta', { active: true, settings: { scope: 'all' } }, by);
    const taken = place.sources.change('Okta', { name: ' ENTRA', active: false }, by);
    await expect(taken).rejects.toMatchObject({ kind: 'uniqueness', attribute: 'name' });
    expect((await place.sources.get('Okta')).active).toBe(true);
    expect((await listAudit(place.database.read, { limit: 10 })).entries).toHaveLength(2);
  });

  test('is read page by page, newest first', async () => {
    await using place = await open(dialect);
    for (const name of ['A', 'B', 'C']) await place.sources.create('scim', name);
    const first = await listAudit(place.database.read, { limit: 2 });
    const second = await listAudit(place.database.read, { limit: 2, before: first.next });
    const names = [...first.entries, ...second.entries].map(({ subject }) => subject.name);
    expect([names, second.next]).toEqual([['C', 'B', 'A'], undefined]);
  });
});
