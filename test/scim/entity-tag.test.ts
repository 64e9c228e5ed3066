import { describe, expect, test } from 'bun:test';
import { openTestApp, platformGroupUrn, platformUrn, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

async function openStaff(dialect: 'sqlite' | 'postgres'): Promise<TestApp> {
  const app = await openTestApp({ dialect });
  await app.createUser({ userName: 'ann' });
  await app.createGroup({ displayName: 'Staff' });
  await app.patch('/Groups/1', [{ op: 'add', path: 'members', value: [{ value: '1' }] }]);
  return app;
}

/** The tag of each resource, which every way of reading it has to show alike. */
async function tagsOf(app: TestApp): Promise<string[]> {
  const tags: string[] = [];
  for (const endpoint of ['/Users', '/Groups'] as const) {
    const { body, headers } = await app.call('GET', `${endpoint}/1`);
    const tag = headers.get('etag') ?? '';
    expect(body.meta.version).toBe(tag);
    const projected = await app.call('GET', `${endpoint}/1?attributes=meta`);
    expect(projected.body.meta.version).toBe(tag);
    expect((await app.call('GET', endpoint)).body.Resources[0].meta.version).toBe(tag);
    expect((await app.find(endpoint, `meta.version eq ${JSON.stringify(tag)}`)).body.totalResults).toBe(1);
    const again = await app.call('GET', `${endpoint}/1`, undefined, { headers: { 'if-none-match': tag } });
    expect([again.status, again.headers.get('etag')]).toEqual([304, tag]);
    tags.push(tag);
  }
  return tags;
}

/** Each changes what people or groups show without a change of any. */
const changes: Readonly<Record<string, (app: TestApp) => Promise<unknown>>> = {
  'a persona is made': (app) => app.configurations.createPersona({ name: 'All', rule: 'any', groupIds: [1] }),
  'an additional field is added': (app) => app.configurations.createField('Motto', 'string', null),
  'an additional field is removed': (app) => app.configurations.removeField('shoe'),
};

describe.each(dialects())('entity tags on %s', (dialect) => {
  test.each(Object.keys(changes))('are others when %s', async (name) => {
    await using app = await openStaff(dialect);
    await app.configurations.createField('Shoe', 'string', null);
    const before = await tagsOf(app);
    await changes[name]?.(app);
    const after = await tagsOf(app);
    for (const [index, endpoint] of ['/Users', '/Groups'].entries()) {
      const old = before[index] ?? '';
      expect(after[index]).not.toBe(old);
      const asked = await app.call('GET', `${endpoint}/1`, undefined, { headers: { 'if-none-match': old } });
      expect(asked.status).toBe(200);
    }
  });

  test('are the bare version until something is configured, and stay for settings that show nothing', async () => {
    await using app = await openStaff(dialect);
    expect(await tagsOf(app)).toEqual(['W/"2"', 'W/"2"']);
    await app.configurations.setSetting('countMax', '50');
    await app.addSource('Another');
    expect(await tagsOf(app)).toEqual(['W/"2"', 'W/"2"']);
    await app.configurations.createPersona({ name: 'All', rule: 'any', groupIds: [1] });
    expect(await tagsOf(app)).toEqual(['W/"2.1"', 'W/"2.1"']);
  });

  test('of a former configuration still let a change pass, and of a former version do not', async () => {
    await using app = await openStaff(dialect);
    await app.configurations.createPersona({ name: 'All', rule: 'any', groupIds: [1] });
    await app.configurations.createField('Shoe', 'string', null);
    const paths = { '/Users/1': 'title', '/Groups/1': `${platformGroupUrn}:description` };
    for (const [path, attribute] of Object.entries(paths)) {
      const change = (tag: string) =>
        app.patch(path, [{ op: 'replace', path: attribute, value: tag }], { headers: { 'if-match': tag } });
      for (const stale of ['W/"1"', 'W/"1.2"', 'W/"2.2.2"', 'W/"2x"', 'W/"22"', 'W/"2."'])
        expect((await change(stale)).status).toBe(412);
      let version = 2;
      for (const ending of ['', '.1', '.2', '.9']) {
        const changed = await change(`W/"${version}${ending}"`);
        expect(changed.status).toBe(200);
        version += 1;
        expect(changed.headers.get('etag')).toBe(`W/"${version}.2"`);
      }
      expect((await change(`"x", "${version}.1"`)).status).toBe(200);
    }
  });

  test('in the answer to a Bulk are those that a GET shows', async () => {
    await using app = await openStaff(dialect);
    await app.configurations.createPersona({ name: 'All', rule: 'any', groupIds: [1] });
    const operation = {
      ...{ method: 'PATCH', path: '/Users/1', version: 'W/"2"' },
      data: { Operations: [{ op: 'replace', path: `${platformUrn}:bio`, value: 'x' }] },
    };
    const { body } = await app.call('POST', '/Bulk', { Operations: [operation] });
    expect(body.Operations[0].version).toBe('W/"3.1"');
    expect((await tagsOf(app))[0]).toBe('W/"3.1"');
  });
});
