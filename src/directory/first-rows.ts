import { compareCodePoints } from '../resource/canonical-key.ts';
import { breathe } from './query-line.ts';

/** What a resource is sorted by; null where it has no such value. */
export type SortValue = string | number | null;

/** A resource's place in a sorted list. */
export interface RankedRow {
  readonly id: number;
  readonly key: SortValue;
}

export type RankOrder = (a: RankedRow, b: RankedRow) => number;

/**
 * RFC 7644 §3.4.2.3: ascending by value, those without one at the end, and equal ones by id; descending is the exact
 * reverse. Texts are ordered by code point, as the database orders them.
 */
export function rankOrder(isDescending: boolean): RankOrder {
  return isDescending ? (a, b) => compareRanks(b, a) : compareRanks;
}

function compareRanks(a: RankedRow, b: RankedRow): number {
  return compareValues(a.key, b.key) || a.id - b.id;
}

function compareValues(a: SortValue, b: SortValue): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return typeof a === 'number' ? -1 : 1;
}

const slackRows = 8_192;
const mergedBetweenBreaths = 8_192;

/** Keeps the first `max` of any number of rows, in an order, without ever holding more than about twice as many. */
export class FirstRows {
  readonly #order: RankOrder;
  readonly #max: number;
  #runs: RankedRow[][] = [];
  #held = 0;

  constructor(order: RankOrder, max: number) {
    this.#order = order;
    this.#max = max;
  }

  async add(rows: readonly RankedRow[]): Promise<void> {
    this.#runs.push(rows.toSorted(this.#order));
    this.#held += rows.length;
    if (this.#held > 2 * this.#max + slackRows) await this.sorted();
  }

  async sorted(): Promise<readonly RankedRow[]> {
    while (this.#runs.length > 1) {
      const [first = [], second = [], ...others] = this.#runs;
      this.#runs = [...others, await this.#merge(first, second)];
    }
    const [rows = []] = this.#runs;
    const kept = rows.slice(0, this.#max);
    this.#runs = [kept];
    this.#held = kept.length;
    return kept;
  }

  async #merge(first: readonly RankedRow[], second: readonly RankedRow[]): Promise<RankedRow[]> {
    const merged: RankedRow[] = [];
    let [left, right] = [0, 0];
    while (merged.length < this.#max) {
      const [a, b] = [first[left], second[right]];
      const takesFirst = a !== undefined && (b === undefined || this.#order(a, b) <= 0);
      const next = takesFirst ? a : b;
      if (next === undefined) break;
      merged.push(next);
      if (takesFirst) left += 1;
      else right += 1;
      if (merged.length % mergedBetweenBreaths === 0) await breathe();
    }
    return merged;
  }
}
