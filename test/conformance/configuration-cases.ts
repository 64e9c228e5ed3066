// Rows of the service description that no SCIM request alone can show: they begin with what a Power User configures.

import { expect } from 'bun:test';
import { Workplace } from '../cli/support.ts';
import { fieldsUrn, openTestApp, userUrn } from '../support/app.ts';

export interface ConfigurationCase {
  readonly shows: readonly string[];
  readonly about: string;
  run(): Promise<void>;
}

const weak = 'The password does not meet the password strength rule.';

export const configurationCases: readonly ConfigurationCase[] = [
  {
    shows: ['CF-name', 'CF-generate-key', 'CF-api-url-suffix'],
    about: 'a source has a name, a key that can be viewed again, and an address',
    async run() {
      using place = new Workplace();
      const created = await place.json('source', 'create', '--kind', 'scim', '--name', 'Entra ID');
      expect(created).toMatchObject({ name: 'Entra ID', active: true });
      expect(created.baseUrl).toEndWith('/api/v2/scim/v2');
      expect(created.token).toMatch(/^rollcall_scim_/);
      expect((await place.json('source', 'token', 'entra id')).token).toBe(created.token);
      const again = await place.run('source', 'create', '--kind', 'scim', '--name', 'ENTRA id');
      expect(again.stderr).toContain('There is a source named "ENTRA id" already');
    },
  },
  {
    shows: ['CF-active', 'AU-active'],
    about: 'a source must be active to be answered',
    async run() {
      await using app = await openTestApp();
      await app.sources.change('Directory', { active: false });
      for (const path of ['/Users', '/Schemas'])
        expect(await app.call('GET', path)).toMatchObject({ status: 403, body: { status: '403' } });
      expect((await app.createUser({ userName: 'ann' })).status).toBe(403);
      await app.sources.change('Directory', { active: true });
      expect((await app.call('GET', '/Users')).body.totalResults).toBe(0);
    },
  },
  {
    shows: ['CF-log-request-body'],
    about: 'bodies are logged when the source says so, and passwords never',
    async run() {
      for (const logBodies of ['true', 'false']) {
        await using app = await openTestApp({ settings: { logBodies } });
        await app.createUser({ userName: 'ann', displayName: 'Visible', password: 'Canary-1' });
        const log = app.logged.join('') + JSON.stringify(app.requests());
        expect(log.includes('Visible')).toBe(logBodies === 'true');
        expect(log).not.toContain('Canary');
      }
    },
  },
  {
    shows: ['F-additional'],
    about: 'an additional field is carried by its extension, in lists and alone, when a user has it',
    async run() {
      await using app = await openTestApp();
      await app.configurations.createField('Desk number', 'string', null);
      await app.createUser({ userName: 'ann', [fieldsUrn]: { desk_number: '12a' } });
      await app.createUser({ userName: 'bob' });
      const { body } = await app.call('GET', '/Users');
      expect(body.Resources[0]).toMatchObject({
        schemas: [userUrn, fieldsUrn],
        [fieldsUrn]: { desk_number: '12a' },
      });
      expect(body.Resources[1].schemas).toEqual([userUrn]);
      const path = `${fieldsUrn}:desk_number`;
      const changed = await app.patch('/Users/2', [{ op: 'add', path, value: '7' }]);
      expect(changed.body[fieldsUrn]).toEqual({ desk_number: '7' });
    },
  },
  {
    shows: ['F-additional-ids', 'LI-additional-ids'],
    about:
      'the id of an additional field is its label in lower case with underscores, and begins with a letter',
    async run() {
      await using app = await openTestApp();
      const { configurations } = app;
      expect((await configurations.createField('Cost Centre Code', 'string', null)).id).toBe(
        'cost_centre_code',
      );
      expect((await configurations.createField('B2', 'integer', null)).id).toBe('b2');
      for (const label of ['2nd desk', '_x', 'Größe', 'a-b', 'a.b', ' ', 'a:b'])
        await expect(configurations.createField(label, 'string', null)).rejects.toThrow();
      expect((await configurations.listFields()).map(({ id }) => id)).toEqual(['cost_centre_code', 'b2']);
    },
  },
  {
    shows: ['ER-password-weak', 'LI-password-regex'],
    about: 'a password is held to the strength expression, in the syntax of PCRE',
    async run() {
      await using app = await openTestApp();
      await app.configurations.setSetting(
        'passwordStrengthRegex',
        '^(?=.*\\p{Lu})(?=.*\\d)(?!.*(.)\\1{2}).{8,}+$',
      );
      for (const password of ['short1A', 'nouppercase1', 'NoDigits', 'Aaaa11111'])
        expect(await app.createUser({ userName: 'ann', password })).toMatchObject({
          status: 400,
          body: { scimType: 'invalidValue', detail: weak },
        });
      expect((await app.createUser({ userName: 'ann', password: 'Str0ngEnough' })).status).toBe(201);
    },
  },
  {
    shows: ['ER-regex'],
    about: 'an expression that does not compile, or never ends, is told with the message of the engine',
    async run() {
      await using app = await openTestApp();
      const { configurations } = app;
      const tell = async (password: string) => (await app.createUser({ userName: 'ann', password })).body;
      await configurations.setSetting('passwordStrengthRegex', '^[a-', { force: true });
      expect(await tell('x')).toMatchObject({
        scimType: 'invalidValue',
        detail:
          'The password strength regex does not compile: missing terminating ] for character class at offset 4.',
      });
      await configurations.setSetting('passwordStrengthRegex', '^(?:a+)+$');
      expect(await tell(`${'a'.repeat(60)}!`)).toMatchObject({
        scimType: 'invalidValue',
        detail: 'The password strength regex is incompatible: match limit exceeded.',
      });
      expect((await app.call('GET', '/Users')).body.totalResults).toBe(0);
    },
  },
];
