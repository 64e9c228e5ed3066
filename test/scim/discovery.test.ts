import { describe, expect, test } from 'bun:test';
import { openTestApp } from '../support/app.ts';

describe('discovery', () => {
  test('tells in ServiceProviderConfig what the service does', async () => {
    await using app = await openTestApp();
    const { body } = await app.call('GET', '/ServiceProviderConfig');
    expect(body).toMatchObject({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
      patch: { supported: true },
      filter: { supported: true, maxResults: 1_000 },
      changePassword: { supported: false },
      etag: { supported: true },
      authenticationSchemes: [{ type: 'oauthbearertoken' }],
      meta: { location: `${app.baseUrl}/ServiceProviderConfig` },
    });
  });

  test('lists the six schemas, each of which can be read, without nulls', async () => {
    await using app = await openTestApp();
    const { body, text } = await app.call('GET', '/Schemas');
    expect(body.totalResults).toBe(6);
    expect(text).not.toContain('null');
    for (const schema of body.Resources) {
      const one = await app.call('GET', `/Schemas/${schema.id}`);
      expect(one.body).toEqual(schema);
      expect((await app.call('GET', `/Schemas/${schema.id.toUpperCase()}`)).status).toBe(200);
    }
    expect((await app.call('GET', '/Schemas/urn:nobody')).status).toBe(404);
  });

  test('publishes password as never returned', async () => {
    await using app = await openTestApp();
    const { body } = await app.call('GET', '/Schemas/urn:ietf:params:scim:schemas:core:2.0:User');
    const password = body.attributes.find((attribute: { name: string }) => attribute.name === 'password');
    expect(password).toMatchObject({ returned: 'never', mutability: 'immutable' });
  });

  test('names in ResourceTypes endpoints and schemas that are there', async () => {
    await using app = await openTestApp();
    const { body } = await app.call('GET', '/ResourceTypes');
    const schemas = (await app.call('GET', '/Schemas')).body.Resources.map(
      (schema: { id: string }) => schema.id,
    );
    for (const type of body.Resources) {
      expect((await app.call('GET', type.endpoint)).status).toBe(200);
      expect((await app.call('GET', `/ResourceTypes/${type.id}`)).body).toEqual(type);
      const named = [
        type.schema,
        ...type.schemaExtensions.map((extension: { schema: string }) => extension.schema),
      ];
      expect(named.filter((urn: string) => !schemas.includes(urn))).toEqual([]);
    }
    expect((await app.call('GET', '/ResourceTypes/Printer')).status).toBe(404);
  });

  test('refuses a filter with 403', async () => {
    await using app = await openTestApp();
    for (const path of ['/Schemas', '/ResourceTypes', '/ServiceProviderConfig'])
      expect((await app.call('GET', `${path}?filter=id%20pr`)).status).toBe(403);
  });

  test('needs a token like everything else', async () => {
    await using app = await openTestApp();
    for (const path of ['/Schemas', '/ResourceTypes', '/ServiceProviderConfig', '/Me', '/Nope'])
      expect((await app.call('GET', path, undefined, { token: '' })).status).toBe(401);
  });

  test('says of /Me that it is not implemented', async () => {
    await using app = await openTestApp();
    expect(await app.call('GET', '/Me')).toMatchObject({ status: 501, body: { status: '501' } });
  });
});
