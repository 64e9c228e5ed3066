import type { LoadClient, LoadRequest } from './load.ts';

/** One of the servers that take turns, with what the bench made in it. */
export interface Side {
  readonly name: 'reference' | 'product';
  readonly pid: number;
  readonly client: LoadClient;
  /** Ids of the people that stay, in the order in which they were made; person n is `user.n@example.com`. */
  readonly people: string[];
  /** Ids of the people that the phase `create` made and `delete` takes away. */
  readonly passing: string[];
  /** Groups of the phase under way. */
  readonly groups: string[];
  /** Id of a group that only gets read. */
  largeGroup: string;
  /** Gets fewer requests, and none after its time is over. */
  readonly isSlow: boolean;
}

export interface Phase {
  readonly name: string;
  /** Requests of a round, of the full size and of the quick one. */
  readonly requests: number;
  readonly requestsQuick: number;
  /** Makes, unmeasured, what the requests need, and the requests. */
  prepare(side: Side, turn: Turn): Promise<readonly LoadRequest[]> | readonly LoadRequest[];
  /** Sees the ids of what the requests made. */
  onCreated?(side: Side, id: string): void;
  /** Takes away, unmeasured, what the phase has made. */
  finish?(side: Side): Promise<void>;
}

export interface Turn {
  /** Different for every turn, so that names are new and values change. */
  readonly number: number;
  readonly requests: number;
}

const patchOp = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const coreUser = 'urn:ietf:params:scim:schemas:core:2.0:User';
const enterpriseUser = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const coreGroup = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const groupMembers = 1_200;
const largeGroupMembers = 1_500;
/** After so many additions the group is no longer the one that the phase is named after. */
const additionsPerGroup = 200;

/** The order matters: `delete` takes away what `create` has made. */
export const phases: readonly Phase[] = [
  {
    name: 'create',
    requests: 3_000,
    requestsQuick: 500,
    prepare: (_side, turn) =>
      times(turn.requests, (i) => createUser(`passing.${turn.number}.${i}@example.com`, i)),
    onCreated: (side, id) => side.passing.push(id),
  },
  {
    name: 'get',
    requests: 20_000,
    requestsQuick: 2_000,
    prepare: (side, turn) =>
      times(turn.requests, (i) => ({ method: 'GET', path: `/Users/${person(side, i)}` })),
  },
  {
    name: 'userName eq',
    requests: 15_000,
    requestsQuick: 2_000,
    prepare: (side, turn) => times(turn.requests, (i) => findUser(userName(scatter(i, side.people.length)))),
  },
  {
    name: 'PATCH one attribute',
    requests: 4_000,
    requestsQuick: 500,
    prepare: (side, turn) =>
      times(turn.requests, (i) =>
        patch(`/Users/${person(side, i)}`, 'replace', 'title', `Grade ${turn.number}.${i}`),
      ),
  },
  {
    name: 'page of 100',
    requests: 1_000,
    requestsQuick: 50,
    prepare: (side, turn) =>
      times(turn.requests, (i) => {
        const startIndex = 1 + scatter(i, Math.max(side.people.length - 100, 1));
        return { method: 'GET', path: `/Users?startIndex=${startIndex}&count=100` };
      }),
  },
  {
    name: 'get a group of 1,500',
    requests: 300,
    requestsQuick: 20,
    prepare: (side, turn) =>
      times(turn.requests, () => ({ method: 'GET', path: `/Groups/${side.largeGroup}` })),
  },
  addOneTo(groupMembers, 2_000),
  {
    name: 'add 1,000 members at once',
    requests: 60,
    requestsQuick: 5,
    async prepare(side, turn) {
      await makeGroups(side, turn, { groups: turn.requests, members: [] });
      const members = side.people.slice(0, 1_000).map((value) => ({ value }));
      return side.groups.map((id) => patch(`/Groups/${id}`, 'add', 'members', members));
    },
    finish: removeGroups,
  },
  {
    name: 'delete',
    requests: 3_000,
    requestsQuick: 500,
    prepare: (side) => side.passing.splice(0).map((id) => ({ method: 'DELETE', path: `/Users/${id}` })),
  },
];

/** Adds people, each new to it, to groups that have `members` already. */
export function addOneTo(members: number, requests: number): Phase {
  const perGroup = Math.max(Math.min(additionsPerGroup, members), 1);
  return {
    name: `add 1 member to ${members.toLocaleString('en')}`,
    requests,
    requestsQuick: 200,
    async prepare(side, turn) {
      const present = side.people.slice(0, members);
      await makeGroups(side, turn, { groups: Math.ceil(turn.requests / perGroup), members: present });
      return times(turn.requests, (i) => {
        const group = side.groups[Math.floor(i / perGroup)];
        return patch(`/Groups/${group}`, 'add', 'members', [
          { value: side.people[members + (i % perGroup)] },
        ]);
      });
    },
    finish: removeGroups,
  };
}

/** People that stay, up to `count` in all. */
export async function growPeople(side: Side, count: number): Promise<void> {
  const batch = 10_000;
  while (side.people.length < count) {
    const first = side.people.length;
    const made: string[] = [];
    const requests = times(Math.min(batch, count - first), (i) => createUser(userName(first + i), first + i));
    await side.client.send(requests, { onAnswer: ({ body }, i) => (made[i] = readId(body)) });
    side.people.push(...made);
  }
}

export async function makeLargeGroup(side: Side): Promise<void> {
  await makeGroups(
    side,
    { number: 0, requests: 0 },
    { groups: 1, members: side.people.slice(0, largeGroupMembers) },
  );
  side.largeGroup = side.groups.splice(0)[0] ?? '';
}

/** Makes a group without members and gives its id. */
export async function makeGroup(side: Side, displayName: string): Promise<string> {
  let id = '';
  const body = JSON.stringify({ schemas: [coreGroup], displayName });
  await side.client.send([{ method: 'POST', path: '/Groups', body }], {
    onAnswer: (answer) => {
      id = readId(answer.body);
    },
  });
  return id;
}

async function makeGroups(
  side: Side,
  turn: Turn,
  { groups, members }: { readonly groups: number; readonly members: readonly string[] },
): Promise<void> {
  const value = members.map((id) => ({ value: id }));
  const requests = times(groups, (i) => {
    const displayName = `Group ${turn.number}.${members.length}.${i}`;
    const body = JSON.stringify({ schemas: [coreGroup], displayName, members: value });
    return { method: 'POST', path: '/Groups?excludedAttributes=members', body };
  });
  await side.client.send(requests, { onAnswer: ({ body }) => side.groups.push(readId(body)) });
}

async function removeGroups(side: Side): Promise<void> {
  await side.client.send(side.groups.splice(0).map((id) => ({ method: 'DELETE', path: `/Groups/${id}` })));
}

/** The id of the resource in an answer. */
export function readId(body: string): string {
  const { id } = JSON.parse(body) as { id?: unknown };
  if (typeof id !== 'string') throw new Error(`The answer has no id: ${body.slice(0, 200)}`);
  return id;
}

function person(side: Side, index: number): string {
  return side.people[scatter(index, side.people.length)] ?? '';
}

/** Walks through 0 to `length` - 1 in an order that no cache foresees, the same in every run. */
function scatter(index: number, length: number): number {
  return (Math.imul(index + 1, 0x9e3779b1) >>> 0) % length;
}

export function userName(n: number): string {
  return `User.${n}@example.com`;
}

export function createUser(name: string, n: number, more: object = {}): LoadRequest {
  return { method: 'POST', path: '/Users', body: JSON.stringify({ ...userBody(name, n), ...more }) };
}

/** What the mappings of common identity providers send for a new person, about 800 bytes. */
export function userBody(name: string, n: number): object {
  return {
    schemas: [coreUser, enterpriseUser],
    userName: name,
    externalId: `00u${name}`,
    name: { givenName: `Given${n}`, familyName: `Family${n % 500}`, formatted: `Given${n} Family${n % 500}` },
    displayName: `Given${n} Family${n % 500}`,
    title: 'Engineer',
    preferredLanguage: 'en-GB',
    timezone: 'Europe/Oslo',
    active: true,
    emails: [{ value: name.toLowerCase(), type: 'work', primary: true }],
    phoneNumbers: [{ value: `+47 22 ${100_000 + (n % 900_000)}`, type: 'work' }],
    addresses: [
      {
        type: 'work',
        streetAddress: `Main Street ${n % 250}`,
        locality: 'Oslo',
        postalCode: '0150',
        country: 'NO',
      },
    ],
    [enterpriseUser]: { employeeNumber: String(100_000 + n), department: `Department ${n % 40}` },
  };
}

function findUser(name: string): LoadRequest {
  return { method: 'GET', path: `/Users?filter=${encodeURIComponent(`userName eq "${name}"`)}` };
}

export function patch(path: string, op: 'add' | 'replace', attribute: string, value: unknown): LoadRequest {
  const body = { schemas: [patchOp], Operations: [{ op, path: attribute, value }] };
  return { method: 'PATCH', path, body: JSON.stringify(body) };
}

function times(count: number, make: (index: number) => LoadRequest): LoadRequest[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
