import type { Reader } from '../storage/database.ts';
import { listManagers } from './match-store.ts';
import { listWritten } from './plan-store.ts';
import type { Run } from './run-store.ts';

const usersAtOnce = 5_000;
const ringsNamed = 10;
const idsNamed = 10;
const nameCharactersMax = 100;

/**
 * Sentences about people who are, over one or more steps, their own manager, as far as the run has written one of them.
 * They are stored as given.
 */
export async function ringsWarnings(db: Reader, run: Pick<Run, 'id' | 'firstUserId'>): Promise<string[]> {
  const all = findRings(await readManagers(db));
  if (all.length === 0) return [];
  const recordIds = await readRecordIds(db, run, new Set(all.flat()));
  const rings = all.filter((ring) => ring.some((id) => recordIds.has(id)));
  const named = rings.slice(0, ringsNamed).map((ring) => describeRing(ring, recordIds));
  const more = rings.length - named.length;
  return more === 0 ? named : [...named, `${more} more circles of managers are not listed.`];
}

async function readManagers(db: Reader): Promise<Map<number, number>> {
  const managerOf = new Map<number, number>();
  for (let after = 0; ; ) {
    const page = await listManagers(db, after, usersAtOnce);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
    for (const { id, managerId } of page) managerOf.set(id, managerId);
  }
  return managerOf;
}

/** What the file calls those of `wanted` whom the run has written, by the user's id. */
async function readRecordIds(
  db: Reader,
  { id: runId, firstUserId }: Pick<Run, 'id' | 'firstUserId'>,
  wanted: ReadonlySet<number>,
): Promise<Map<number, string>> {
  const recordIds = new Map<number, string>();
  for (let after = 0; ; ) {
    const page = await listWritten(db, runId, after, usersAtOnce);
    const last = page.at(-1);
    if (last === undefined) return recordIds;
    after = last.seq;
    for (const { record_id, resource_id, ordinal } of page) {
      const id = resource_id ?? firstUserId + (ordinal ?? 0);
      if (wanted.has(id)) recordIds.set(id, record_id ?? String(id));
    }
  }
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

/** One whom the run has not written has no name in the file, and is named by the user's id. */
function describeRing(ring: readonly number[], recordIds: ReadonlyMap<number, string>): string {
  const names = ring.slice(0, idsNamed).map((id) => {
    const recordId = recordIds.get(id);
    return recordId === undefined ? String(id) : `"${recordId.slice(0, nameCharactersMax)}"`;
  });
  if (ring.length === 1) return `The user ${names[0]} is their own manager; stored as given.`;
  const shown = names.join(' → ');
  return `The users ${shown}${ring.length > idsNamed ? ' → …' : ''} manage each other in a circle; stored as given.`;
}
