// Bulk requests as tests write them, and what tests look at afterwards.

import {
  type Answer,
  type CallOptions,
  enterpriseUrn,
  groupUrn,
  type Json,
  type TestApp,
  userUrn,
} from '../support/app.ts';

export const requestUrn = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
export const patchOpUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

interface More extends CallOptions {
  readonly failOnErrors?: number;
}

export function bulk(app: TestApp, operations: readonly unknown[], more: More = {}): Promise<Answer> {
  const { failOnErrors, ...options } = more;
  const body = {
    schemas: [requestUrn],
    ...(failOnErrors === undefined ? {} : { failOnErrors }),
    Operations: operations,
  };
  return app.call('POST', '/Bulk', body, options);
}

export function newUser(bulkId: string, user: object = {}): object {
  const data = { schemas: [userUrn], userName: bulkId, ...user };
  return { method: 'POST', path: '/Users', bulkId, data };
}

export function newGroup(bulkId: string, members: readonly string[] = [], more: object = {}): object {
  const data = {
    schemas: [groupUrn],
    displayName: bulkId,
    members: members.map((value) => ({ value })),
    ...more,
  };
  return { method: 'POST', path: '/Groups', bulkId, data };
}

export function patch(path: string, operations: readonly object[], more: object = {}): object {
  return { method: 'PATCH', path, data: { schemas: [patchOpUrn], Operations: operations }, ...more };
}

export function managedBy(value: string): object {
  return { [enterpriseUrn]: { manager: { value } } };
}

export function statuses({ body }: Answer): string[] {
  return body.Operations.map((operation: Json) => operation.status);
}

export function details({ body }: Answer): string[] {
  return body.Operations.map((operation: Json) => operation.response?.detail ?? '');
}

export async function membersOf(app: TestApp, id: number): Promise<string[]> {
  const { body } = await app.call('GET', `/Groups/${id}`);
  return (body.members ?? []).map((member: Json) => member.display);
}

export async function managerOf(app: TestApp, userName: string): Promise<string | undefined> {
  const { body } = await app.find('/Users', `userName eq "${userName}"`);
  const value = body.Resources[0]?.[enterpriseUrn]?.manager?.value;
  return value === undefined ? undefined : (await app.call('GET', `/Users/${value}`)).body.userName;
}
