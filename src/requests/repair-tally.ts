import type { RequestRecord } from './record.ts';

/** day, source, code, attribute, count, id of the last request: one row of the table. */
export type CountedRepair = readonly [number, number, string, string, number, number];

const dayMs = 24 * 60 * 60 * 1_000;
const attributesMax = 50;
const attributeCharactersMax = 100;

/** Stands for every attribute after the first ones: clients make names up, and each would be a row for ever. */
const otherAttributes = '…';

/** Counts the repairs of a batch by day, source, code and attribute, so that each costs no row of its own. */
export class RepairTally {
  #counts = new Map<string, CountedRepair>();
  readonly #known = new Map<string, Set<string>>();
  #day = 0;

  add(id: number, { timeMs, sourceId, repairs }: RequestRecord): void {
    if (sourceId === null) return;
    this.#turnTo(Math.floor(timeMs / dayMs));
    for (const { code, attribute } of repairs) {
      const shown = this.#bounded(`${sourceId} ${code}`, attribute.slice(0, attributeCharactersMax));
      const key = `${this.#day} ${sourceId} ${code} ${shown}`;
      const count = (this.#counts.get(key)?.[4] ?? 0) + 1;
      this.#counts.set(key, [this.#day, sourceId, code, shown, count, id]);
    }
  }

  /** What was counted since the last call. */
  take(): CountedRepair[] {
    if (this.#counts.size === 0) return [];
    const taken = [...this.#counts.values()];
    this.forget();
    return taken;
  }

  /** The batch came to nothing; it will be counted again. */
  forget(): void {
    this.#counts = new Map();
  }

  #turnTo(day: number): void {
    if (day <= this.#day) return;
    this.#day = day;
    this.#known.clear();
  }

  #bounded(key: string, attribute: string): string {
    const known = this.#known.get(key) ?? new Set();
    this.#known.set(key, known);
    if (known.size >= attributesMax && !known.has(attribute)) return otherAttributes;
    known.add(attribute);
    return attribute;
  }
}
