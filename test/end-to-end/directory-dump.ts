// Everything a source sees over SCIM, in a form in which two installations can be compared: without times and
// addresses, but with ids, memberships, managers and the versions of users. The version of a group counts the batches
// in which its members came, and these are cut by the clock.

const pageSize = 500;

export interface Door {
  readonly baseUrl: string;
  readonly token: string;
}

interface Resource {
  readonly id: string;
  readonly [name: string]: unknown;
}

interface ListResponse {
  readonly totalResults: number;
  readonly Resources: readonly Resource[];
}

/** One line of JSON for each user and each group. */
export async function dumpDirectory(door: Door): Promise<string[]> {
  const users = await readAll(door, 'Users');
  const groups = await readAll(door, 'Groups');
  const withMembers = await Promise.all(groups.map((group) => get(door, `/Groups/${group.id}`)));
  return [...users, ...withMembers].map((resource) => JSON.stringify(comparable(resource, door)));
}

export async function readAll(door: Door, type: 'Users' | 'Groups'): Promise<Resource[]> {
  const found: Resource[] = [];
  for (;;) {
    const page = (await get(
      door,
      `/${type}?startIndex=${found.length + 1}&count=${pageSize}`,
    )) as unknown as ListResponse;
    found.push(...page.Resources);
    if (found.length >= page.totalResults || page.Resources.length === 0) return found;
  }
}

export async function get(door: Door, path: string): Promise<Resource> {
  const response = await fetch(door.baseUrl + path, { headers: { authorization: `Bearer ${door.token}` } });
  if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

function comparable(resource: Resource, door: Door): unknown {
  const text = JSON.stringify(resource).replaceAll(door.baseUrl, '');
  const { resourceType } = resource.meta as { resourceType: string };
  const left = new Set(['created', 'lastModified', ...(resourceType === 'Group' ? ['version'] : [])]);
  return JSON.parse(text, (name, value) => (left.has(name) ? undefined : value));
}
