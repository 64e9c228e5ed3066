import type { Reader } from '../storage/database.ts';
import { listManagers } from './match-store.ts';

const usersAtOnce = 5_000;
const ringsNamed = 10;
const idsNamed = 10;

/** Sentences about people who are, over one or more steps, their own manager. They are stored as given. */
export async function ringsWarnings(db: Reader): Promise<string[]> {
  const managerOf = new Map<number, number>();
  for (let after = 0; ; ) {
    const page = await listManagers(db, after, usersAtOnce);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
    for (const { id, managerId } of page) managerOf.set(id, managerId);
  }
  const rings = findRings(managerOf);
  const named = rings.slice(0, ringsNamed).map(describeRing);
  const more = rings.length - named.length;
  return more === 0 ? named : [...named, `${more} more circles of managers are not listed.`];
}

/** Every circle once, from the person with the smallest id. */
export function findRings(managerOf: ReadonlyMap<number, number>): number[][] {
  const seenIn = new Map<number, number>();
  const rings: number[][] = [];
  for (const start of managerOf.keys()) {
    let at: number | undefined = start;
    const way: number[] = [];
    while (at !== undefined && !seenIn.has(at)) {
      seenIn.set(at, start);
      way.push(at);
      at = managerOf.get(at);
    }
    if (at !== undefined && seenIn.get(at) === start) rings.push(fromSmallest(way.slice(way.indexOf(at))));
  }
  return rings.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
}

function fromSmallest(ring: readonly number[]): number[] {
  const at = ring.indexOf(Math.min(...ring));
  return [...ring.slice(at), ...ring.slice(0, at)];
}

function describeRing(ring: readonly number[]): string {
  if (ring.length === 1) return `The user ${ring[0]} is their own manager; stored as given.`;
  const shown = ring.slice(0, idsNamed).join(' → ');
  return `The users ${shown}${ring.length > idsNamed ? ' → …' : ''} manage each other in a circle; stored as given.`;
}
