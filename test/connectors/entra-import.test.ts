// A full run and a delta of Entra through the real host process and the processor.

import { expect, test } from 'bun:test';
import { findCheckpoint } from '../../src/imports/checkpoint-store.ts';
import { serveGraph, type Tenant } from './graph-server.ts';
import { minute, openConnectorHouse } from './support.ts';

const secret = 'import-secret-4711';

function tenant(): Tenant {
  const users = ['ann', 'bob', 'eve'].map((name) => ({
    id: `id-${name}`,
    displayName: name,
    userPrincipalName: `${name}@corp.test`,
    accountEnabled: true,
  }));
  const groups = [{ id: 'g', displayName: 'Staff', members: ['id-ann', 'id-bob'] }];
  return { users, groups, userChanges: [], groupChanges: [], pageSize: 2 };
}

test(
  'a delta disables whoever was deleted, changes whoever changed, and reports the deletion of somebody unknown',
  async () => {
    using server = serveGraph(tenant(), secret);
    await using house = await openConnectorHouse();
    const config = {
      tenantId: 'corp.test',
      clientId: 'app',
      clientSecret: secret,
      loginUrl: server.origin,
      graphUrl: server.origin,
    };
    const full = await house.takeIn('entra', config);
    await house.imports.processor().drain();
    expect((await house.imports.runs.get(full.receipt?.importId ?? 0)).counts).toMatchObject({ created: 3 });
    const { tenant: now } = server;
    now.users = now.users.flatMap((user) => {
      if (user.id === 'id-bob') return [];
      return user.id === 'id-eve' ? [{ ...user, displayName: 'Eve Changed' }] : [user];
    });
    now.userChanges = [
      { id: 'id-bob', '@removed': { reason: 'changed' } },
      { id: 'id-eve', displayName: 'Eve Changed' },
      { id: 'id-stranger', '@removed': { reason: 'deleted' } },
    ];
    const stored = await findCheckpoint(house.imports.database.read, house.imports.source.id, 'entra');
    const delta = { mode: 'delta', checkpoint: JSON.parse(stored?.value ?? 'null') } as const;
    const run = await house.import('entra', config, delta);
    expect(run.status).toBe('completed-with-errors');
    expect(run.counts).toMatchObject({ created: 0, updated: 1, disabled: 1, issues: 1 });
    expect(await house.imports.states()).toEqual([
      'ann@corp.test active',
      'bob@corp.test inactive',
      'eve@corp.test active',
    ]);
    const after = await findCheckpoint(house.imports.database.read, house.imports.source.id, 'entra');
    expect(after?.value).toContain('deltatoken=two');
  },
  5 * minute,
);
