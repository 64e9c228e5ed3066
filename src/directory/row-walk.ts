import { DomainError } from '../errors.ts';
import type { Reader } from '../storage/database.ts';
import type { IdRange, ListStore } from './list-store.ts';
import type { QueryLine, Window } from './query-line.ts';

export interface RowWalkParts {
  readonly db: Reader;
  readonly line: QueryLine;
  readonly list: ListStore;
  /** Only what this source owns; undefined for all. */
  readonly owner: number | null | undefined;
  /** In whose place of the line the walk stands. */
  readonly sourceId: number | null;
  readonly signal: AbortSignal | undefined;
  /** Rows that may be looked at for one request. */
  readonly rowsMax: number;
}

/** Goes through the rows that a source may see, range by range, when no index leads to the ones that are wanted. */
export class RowWalk {
  readonly rowsMax: number;
  readonly #parts: RowWalkParts;

  constructor(parts: RowWalkParts) {
    this.#parts = parts;
    this.rowsMax = parts.rowsMax;
  }

  /** Waits for the source's turn; `work` looks at rows within windows alone. */
  inTurn<T>(work: (window: Window) => Promise<T>): Promise<T> {
    return this.#parts.line.run(this.#parts.sourceId, this.#parts.signal, work);
  }

  /** How many rows there are. */
  async total(): Promise<number> {
    const { db, list, owner } = this.#parts;
    return owner === undefined ? list.total(db) : sumOf(await this.ranges());
  }

  /** All ranges, in the order of ids. */
  async ranges(): Promise<readonly IdRange[]> {
    const { db, list, owner } = this.#parts;
    if (owner === undefined) return list.ranges(db);
    return this.inTurn(async (window) => {
      const ranges: IdRange[] = [];
      for await (const range of this.#owned(window, 0)) ranges.push(range);
      return ranges;
    });
  }

  /** Looks at each range behind the id `after` until `look` has seen enough, which it says by false. */
  async each(after: number, look: (range: IdRange) => Promise<boolean>): Promise<void> {
    await this.inTurn(async (window) => {
      for await (const range of this.#rangesBehind(window, after)) {
        if (!(await window(() => look(range)))) return;
      }
    });
  }

  async *#rangesBehind(window: Window, after: number): AsyncGenerator<IdRange> {
    const { db, list, owner } = this.#parts;
    if (owner !== undefined) {
      yield* this.#owned(window, after);
      return;
    }
    for (const range of await list.ranges(db)) {
      if (range.to > after + 1) yield { ...range, from: Math.max(range.from, after + 1) };
    }
  }

  async *#owned(window: Window, after: number): AsyncGenerator<IdRange> {
    const { db, list, owner } = this.#parts;
    let last = after;
    for (;;) {
      const range = await window(() => list.ownedRange(db, owner ?? null, last));
      if (range === undefined) return;
      yield range;
      last = range.to - 1;
    }
  }

  /** Throws `tooMany` when as many rows as this would have to be looked at. */
  require(rows: number): void {
    if (rows <= this.rowsMax) return;
    throw new DomainError(
      'tooMany',
      `The query would have to look at more than ${this.rowsMax} resources; filter by userName, externalId, id or another attribute with an index, or follow a cursor.`,
    );
  }
}

export function sumOf(ranges: readonly IdRange[]): number {
  return ranges.reduce((sum, range) => sum + range.live, 0);
}
