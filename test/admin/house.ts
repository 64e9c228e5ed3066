// A whole service with an administrator who is signed in, for the tests of what the console does with real imports.

import { buildGate } from '../../src/app.ts';
import { Invitations } from '../../src/security/invitations.ts';
import { partsOf } from '../imports/service.ts';
import { type HouseOptions, type ImportHouse, openImportHouse } from '../imports/support.ts';
import type { Json } from '../support/app.ts';
import { adminName, adminPassword } from './support.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly body: Json;
}

export async function openAdminHouse(options: HouseOptions = {}): Promise<AdminHouse> {
  const admin = new AdminHouse(await openImportHouse(options));
  await admin.signIn();
  return admin;
}

export class AdminHouse implements AsyncDisposable {
  readonly house: ImportHouse;
  readonly #server: Bun.Server<undefined>;
  #cookie = '';

  constructor(house: ImportHouse) {
    this.house = house;
    const gate = buildGate(partsOf(house));
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      development: false,
      fetch: (request, server) => gate.handle(request, server),
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  async signIn(): Promise<void> {
    const { database, clock } = this.house;
    const { token } = await new Invitations({ database, clock }).issue(adminName);
    const { headers } = await this.#send('POST', '/entry/accept', {
      token,
      name: adminName,
      password: adminPassword,
    });
    this.#cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  }

  /** As the console sends it; a change has a body, if only an empty one. */
  async call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: Json): Promise<AdminAnswer> {
    const sent = method === 'GET' ? undefined : (body ?? {});
    const response = await this.#send(method, path, sent);
    return { status: response.status, body: await response.json().catch(() => undefined) };
  }

  #send(method: string, path: string, body: Json): Promise<Response> {
    const change = { 'content-type': 'application/json', 'x-rollcall': '1' };
    return fetch(`${this.origin}/api/admin/v1${path}`, {
      method,
      headers: { cookie: this.#cookie, ...(body === undefined ? {} : change) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true);
    await this.house[Symbol.asyncDispose]();
  }
}
