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

async function readManagers(db: Reader): Promise<Managers> {
  const managers = new Managers();
  for (let after = 0; ; ) {
    const page = await listManagers(db, after, usersAtOnce);
    const last = page.at(-1);
    if (last === undefined) return managers;
    after = last.id;
    for (const { id, managerId } of page) managers.add(id, managerId);
  }
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

/** Who reports to whom, twenty bytes for each: there may be a million. People are added in the order of their ids. */
export class Managers {
  #ids = new Float64Array(1_024);
  #managerIds = new Float64Array(1_024);
  size = 0;

  add(id: number, managerId: number): void {
    if (this.size === this.#ids.length) {
      this.#ids = twice(this.#ids);
      this.#managerIds = twice(this.#managerIds);
    }
    this.#ids[this.size] = id;
    this.#managerIds[this.size] = managerId;
    this.size += 1;
  }

  idAt(place: number): number {
    return this.#ids[place] ?? 0;
  }

  /** The place of the manager of the one at `place`; -1 for a manager without one. */
  managerOf(place: number): number {
    const id = this.#managerIds[place] ?? 0;
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.idAt(middle) < id) low = middle + 1;
      else high = middle;
    }
    return low < this.size && this.idAt(low) === id ? low : -1;
  }
}

function twice(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}

/** Every circle once, from the person with the smallest id. */
export function findRings(managers: Managers): number[][] {
  // For each place, from which one it was come to first, counted from 1; 0 for not yet.
  const seenFrom = new Uint32Array(managers.size);
  const rings: number[][] = [];
  for (let start = 0; start < managers.size; start += 1) {
    let at = start;
    const way: number[] = [];
    while (at !== -1 && seenFrom[at] === 0) {
      seenFrom[at] = start + 1;
      way.push(at);
      at = managers.managerOf(at);
    }
    if (at !== -1 && seenFrom[at] === start + 1) {
      rings.push(fromSmallest(way.slice(way.indexOf(at)).map((place) => managers.idAt(place))));
    }
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
