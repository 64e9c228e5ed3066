// A SCIM server that is not ours: SCIMMY behind Express, with people and groups in memory.

import type { Server } from 'node:http';
import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';

export interface ForeignServer extends AsyncDisposable {
  readonly baseUrl: string;
}

type Stored = Readonly<Record<string, unknown>> & { readonly id: string };

/** SCIMMY knows one set of resources in a process: one server at a time. */
export async function serveScimmy(
  users: readonly Stored[],
  groups: readonly Stored[],
  token: string,
): Promise<ForeignServer> {
  declare(SCIMMY.Resources.User, users);
  declare(SCIMMY.Resources.Group, groups);
  const app = express();
  const handler = (request: { header(name: string): string | undefined }) => {
    if (request.header('Authorization') !== `Bearer ${token}`) throw new Error('That token is not known');
    return 'reader';
  };
  app.use('/scim', new SCIMMYRouters({ type: 'bearer', handler } as never) as never);
  const server = await new Promise<Server>((resolve) => {
    const listening: Server = app.listen(0, '127.0.0.1', () => resolve(listening));
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as { port: number }).port}/scim`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function declare(type: unknown, stored: readonly Stored[]): void {
  const resource = type as {
    extend(schema: unknown): void;
    egress(give: (wanted: Wanted) => unknown): { ingress(f: () => never): { degress(f: () => never): void } };
  };
  if (type === SCIMMY.Resources.User) resource.extend(SCIMMY.Schemas.EnterpriseUser);
  const refuse = () => {
    throw new Error('A connector does not write');
  };
  const give = ({ id, filter }: Wanted) => {
    if (id !== undefined) return stored.find((each) => each.id === id);
    return filter === undefined ? [...stored] : filter.match([...stored]);
  };
  (SCIMMY.Resources as unknown as { declare(type: unknown): typeof resource })
    .declare(type)
    .egress(give)
    .ingress(refuse)
    .degress(refuse);
}

interface Wanted {
  readonly id?: string;
  readonly filter?: { match(stored: readonly Stored[]): readonly Stored[] };
}
