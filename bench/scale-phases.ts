import type { LoadClient, LoadRequest } from './load.ts';
import { createUser, patch, userName } from './scim-phases.ts';

/** A server on a directory of `people`, whose person n (from 0) has the id n + 1. */
export interface ScaleSide {
  readonly people: number;
  readonly teams: number;
  readonly pid: number;
  readonly baseUrl: string;
  readonly token: string;
  /** Many connections at once, and a single one. */
  readonly many: LoadClient;
  readonly one: LoadClient;
  /** Where the walk by cursor goes on; empty at its beginning. */
  cursor: string;
}

export interface ScalePhase {
  readonly name: string;
  /** Most requests of a round; a round ends earlier when its time is over. */
  readonly requests: number;
  /** Request `i`, which no other turn has sent. */
  make(side: ScaleSide, i: number): LoadRequest;
  /** Asked once instead of `make`, when an answer alone does not show that the server does what is asked. */
  readonly probe?: { readonly path: string; isDone(body: string): boolean };
  /** Sees an answer; a phase that has this sends one request after the other. */
  onAnswer?(side: ScaleSide, body: string): void;
}

const get = (path: string): LoadRequest => ({ method: 'GET', path });
const pageCount = 100;
/** So few that a directory of any size has them in memory after a while, as the smallest has everybody. */
const few = 1_000;

export const scalePhases: readonly ScalePhase[] = [
  { name: 'get', requests: 5_000, make: (side, i) => get(`/Users/${anyone(side, i) + 1}`) },
  { name: 'get among 1,000', requests: 5_000, make: (_side, i) => get(`/Users/${scattered(i, few) + 1}`) },
  find('userName eq', (n) => `userName eq "${userName(n)}"`),
  find('externalId eq', (n) => `externalId eq "00u${userName(n)}"`),
  find('emails.value eq', (n) => `emails.value eq "${userName(n).toLowerCase()}"`),
  {
    name: 'create',
    requests: 2_000,
    make: (_side, i) => createUser(`passing.${i}@example.com`, i),
  },
  {
    name: 'PATCH one attribute',
    requests: 2_000,
    make: (side, i) => patch(`/Users/${anyone(side, i) + 1}`, 'replace', 'title', `Grade ${i}`),
  },
  {
    name: 'page of 100 anywhere',
    requests: 300,
    make: (side, i) => get(`/Users?startIndex=${anyPage(side, i)}&count=${pageCount}`),
  },
  {
    name: 'page of 100 among 1,000',
    requests: 300,
    make: (_side, i) => get(`/Users?startIndex=${1 + scattered(i, few - pageCount)}&count=${pageCount}`),
  },
  {
    name: 'page of 100 by cursor',
    requests: 300,
    make: (side) => get(`/Users?cursor=${encodeURIComponent(side.cursor)}&count=${pageCount}`),
    probe: {
      path: `/Users?cursor=&count=${pageCount}`,
      isDone: (body) => nextCursor(body) !== undefined,
    },
    onAnswer: (side, body) => {
      side.cursor = nextCursor(body) ?? '';
    },
  },
  {
    name: 'page sorted by userName',
    requests: 200,
    probe: { path: '/Users?sortBy=userName&count=20', isDone: isSorted },
    make: (side, i) => get(`/Users?sortBy=userName&startIndex=${anyPage(side, i)}&count=${pageCount}`),
  },
  {
    name: 'filter of a few in many',
    requests: 1_000,
    make: (side, i) =>
      get(`/Users?filter=${encodeURIComponent(`userName sw "${userName(anyone(side, i))}"`)}&count=10`),
  },
];

function find(name: string, filter: (n: number) => string): ScalePhase {
  return {
    name,
    requests: 4_000,
    make: (side, i) => get(`/Users?filter=${encodeURIComponent(filter(anyone(side, i)))}`),
  };
}

/** Where a list goes on (RFC 9865 §2.1); undefined at its end, and from a server that knows no cursors. */
function nextCursor(body: string): string | undefined {
  const { nextCursor: next } = JSON.parse(body) as { nextCursor?: unknown };
  return typeof next === 'string' ? next : undefined;
}

/** By their numbers, User.10 follows User.9; by their names it comes first. */
function isSorted(body: string): boolean {
  const { Resources: people = [] } = JSON.parse(body) as { Resources?: { userName: string }[] };
  const names = people.map(({ userName: name }) => name.toLowerCase());
  return names.length > 0 && names.every((name, i) => i === 0 || (names[i - 1] ?? '') <= name);
}

/** A person in an order that no cache foresees, the same in every run. */
function anyone({ people }: ScaleSide, i: number): number {
  return scattered(i, people);
}

function scattered(i: number, length: number): number {
  return (Math.imul(i + 1, 0x9e3779b1) >>> 0) % length;
}

function anyPage(side: ScaleSide, i: number): number {
  return 1 + (anyone(side, i) % Math.max(side.people - pageCount, 1));
}
