// Somebody is named before, after or while they arrive: the group and the report are the same in the end.

import { describe, expect, test } from 'bun:test';
import { enterpriseUrn, openTestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import { HoldingServer, runBeside } from '../support/overlap.ts';

const manager = `${enterpriseUrn}:manager`;
const set = (path: string, value: unknown) => [{ op: 'replace', path, value }];
const add = (value: string) => [{ op: 'add', path: 'members', value: [{ value }] }];

describe.each(dialects())('naming somebody who is arriving on %s', (dialect) => {
  test('as a member leads to them, whichever is committed first', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    await app.createGroup({ displayName: 'Sales' });
    await using other = new HoldingServer(app);
    const arrival = await other.begin((server) =>
      server.createUser({ userName: 'ann', externalId: 'e-ann' }, { token: app.token }),
    );
    const naming = await runBeside(app, app.patch('/Groups/1', add('e-ann')));
    expect((await arrival.commit()).status).toBe(201);
    expect((await naming.answer).status).toBe(200);
    expect((await app.call('GET', '/Groups/1')).body.members).toMatchObject([{ value: '1' }]);
  });

  test('as a member before they are there leads to them too', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    await app.createGroup({ displayName: 'Sales' });
    await using other = new HoldingServer(app);
    const naming = await other.begin((server) =>
      server.patch('/Groups/1', add('e-ann'), { token: app.token }),
    );
    const arrival = await runBeside(app, app.createUser({ userName: 'ann', externalId: 'e-ann' }));
    expect((await naming.commit()).status).toBe(200);
    expect((await arrival.answer).status).toBe(201);
    expect((await app.call('GET', '/Groups/1')).body.members).toMatchObject([{ value: '1' }]);
  });

  test('as a manager leads to them, whichever is committed first', async () => {
    await using app = await openTestApp({ dialect, settings: { unknownMembers: 'pending' } });
    await app.createUser({ userName: 'bob' });
    await using other = new HoldingServer(app);
    const arrival = await other.begin((server) =>
      server.createUser({ userName: 'ann', externalId: 'e-ann' }, { token: app.token }),
    );
    const naming = await runBeside(app, app.patch('/Users/1', set(manager, { value: 'e-ann' })));
    expect((await arrival.commit()).status).toBe(201);
    expect((await naming.answer).status).toBe(200);
    expect((await app.call('GET', '/Users/1')).body[enterpriseUrn].manager.value).toBe('2');
  });
});
