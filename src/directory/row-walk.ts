import { DomainError } from '../errors.ts';
import type { Reader } from '../storage/database.ts';
import type { RowCost } from './filter-cost.ts';
import type { Condition, SortKey } from './filter-sql.ts';
import { type Wide, WideQuestions } from './filter-sql-wide.ts';
import type { RankedRow } from './first-rows.ts';
import type { IdRange, ListStore } from './list-store.ts';
import type { QueryLine, Window } from './query-line.ts';
import type { RelatedStore } from './related-store.ts';

export interface RowWalkParts {
  readonly db: Reader;
  readonly line: QueryLine;
  readonly list: ListStore;
  readonly related: RelatedStore;
  /** What is asked of each row, which says how many of them make a window. */
  readonly cost: RowCost;
  /** Only what this source owns; undefined for all. */
  readonly owner: number | null | undefined;
  /** In whose place of the line the walk stands. */
  readonly sourceId: number | null;
  readonly signal: AbortSignal | undefined;
  /** Rows that may be looked at for one request. */
  readonly rowsMax: number;
}

/** What is asked of the rows, as SQL; of one row with very many memberships it is `wide` that answers about these. */
export type Ask = (wide: Wide | undefined) => Asked;

export interface Asked {
  readonly condition: Condition | undefined;
  readonly key: SortKey | undefined;
}

/** Some rows, looked at in one window. */
export interface Piece extends Asked {
  readonly range: IdRange;
}

/** Values that are compared in one window: some milliseconds, whatever the query. */
export const looksInWindowMax = 2_048;
/** Fewer rows than these cost less than the statement that asks for them. */
const rowsInWindowMin = 64;
/** Of so many rows at a time the memberships are counted. */
const countedMax = 32;

/** Goes through the rows that a source may see, range by range, when no index leads to the ones that are wanted. */
export class RowWalk {
  readonly rowsMax: number;
  readonly #parts: RowWalkParts;
  readonly #rowsInWindow: number;
  /** Memberships that may be read in a window; 0 when nothing is asked about them. */
  readonly #relatedInWindow: number;
  #looked = 0;

  constructor(parts: RowWalkParts) {
    this.#parts = parts;
    this.rowsMax = parts.rowsMax;
    const { terms, related } = parts.cost;
    this.#rowsInWindow = inWindow(terms);
    this.#relatedInWindow = related === 0 ? 0 : inWindow(related);
  }

  /** Rows that have been looked at, and memberships of theirs. */
  get looked(): number {
    return this.#looked;
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

  /**
   * Looks at everything behind the id `after`, in pieces, until `look` has seen enough, which it says by false. Throws
   * `tooMany` when more than `rowsMax` rows have been read, those of memberships among them.
   */
  async each(after: number, ask: Ask, look: (piece: Piece) => Promise<boolean>): Promise<void> {
    const asked = ask(undefined);
    await this.inTurn(async (window) => {
      for await (const range of this.#rangesBehind(window, after)) {
        let uncounted = range.live;
        for (let rest: IdRange = range; rest.from < rest.to; ) {
          this.require(this.#looked);
          const step = await window(async () => {
            const cut = await this.#cut(rest);
            const rows = Math.min(cut.piece.live, uncounted);
            this.#looked += rows;
            uncounted -= rows;
            return { ...cut, goesOn: cut.isWide || (await look({ ...asked, range: cut.piece })) };
          });
          const { piece, isWide } = step;
          if (!step.goesOn) return;
          if (isWide && !(await this.#lookAtWide({ window, ask }, piece, look))) return;
          rest = { ...rest, from: piece.to };
        }
      }
    });
  }

  /** Those of `ids` that `read` finds, in no order; when it takes much to tell, in windows. */
  async among(
    ids: readonly number[],
    ask: Ask,
    read: (ids: readonly number[], asked: Asked) => Promise<RankedRow[]>,
  ): Promise<RankedRow[]> {
    const asked = ask(undefined);
    if (this.#relatedInWindow === 0 && ids.length <= this.#rowsInWindow) return read(ids, asked);
    return this.inTurn(async (window) => {
      const found: RankedRow[] = [];
      for await (const { part, isWide } of this.#portions(window, ids)) {
        const [only = 0] = part;
        const answered = isWide ? await this.#answered({ window, ask }, only) : asked;
        found.push(...(await window(() => read(part, answered))));
        this.require(this.#looked);
      }
      return found;
    });
  }

  /** As much of a range, from its beginning, as one window can look at; `isWide` for one row that is too much by itself. */
  async #cut(range: IdRange): Promise<{ readonly piece: IdRange; readonly isWide: boolean }> {
    const { db, related } = this.#parts;
    const { from } = range;
    const to = await this.#endOfRows(range);
    const until = (end: number) => ({
      from,
      to: end,
      live: Math.min(range.live, this.#rowsInWindow, end - from),
    });
    if (this.#relatedInWindow === 0) return { piece: until(to), isWide: false };
    const { count, last } = await related.reach(db, { from, to }, this.#relatedInWindow);
    this.#looked += Math.min(count, this.#relatedInWindow);
    if (count <= this.#relatedInWindow) return { piece: until(to), isWide: false };
    return { piece: until(Math.max(last, from + 1)), isWide: last === from };
  }

  /** The id before which there are as many rows as make a window. */
  async #endOfRows({ from, to, live }: IdRange): Promise<number> {
    const { db, list, owner } = this.#parts;
    if (live <= this.#rowsInWindow) return to;
    const slice = { from, skip: this.#rowsInWindow, count: 1 };
    const [next = to] = await list.ids(db, { condition: undefined, owner }, slice);
    return Math.min(next, to);
  }

  async #lookAtWide(
    asking: Asking,
    range: IdRange,
    look: (piece: Piece) => Promise<boolean>,
  ): Promise<boolean> {
    const { db, list, owner } = this.#parts;
    const { window } = asking;
    const isThere = await window(() => list.idsWithin(db, { condition: undefined, owner }, range));
    if (isThere.length === 0) return true;
    const answered = await this.#answered(asking, range.from);
    return window(() => look({ ...answered, range }));
  }

  /** What is asked of one row, when its memberships have been read in slices. */
  async #answered({ window, ask }: Asking, id: number): Promise<Asked> {
    const { db, related } = this.#parts;
    const questions = new WideQuestions(id);
    ask(questions.collecting());
    let [after, isAtEnd] = [0, false];
    while (!isAtEnd && !questions.isAnswered) {
      await window(async () => {
        const { count, last } = await related.reachOf(db, { id, after }, this.#relatedInWindow);
        if (count > 0) await questions.ask(db, { after, to: last });
        this.#looked += count;
        after = last;
        isAtEnd = count < this.#relatedInWindow;
      });
    }
    return ask(questions.answering());
  }

  async *#portions(window: Window, ids: readonly number[]): AsyncGenerator<Part> {
    const { db, related } = this.#parts;
    const inOrder = ids.toSorted((a, b) => a - b);
    if (this.#relatedInWindow === 0) {
      for (let start = 0; start < inOrder.length; start += this.#rowsInWindow)
        yield { part: inOrder.slice(start, start + this.#rowsInWindow), isWide: false };
      return;
    }
    for (let start = 0; start < inOrder.length; start += countedMax) {
      const some = inOrder.slice(start, start + countedMax);
      const counts = await window(() => related.counts(db, some, this.#relatedInWindow));
      yield* packed(some, counts, this.#relatedInWindow);
    }
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

function inWindow(looks: number): number {
  return Math.max(rowsInWindowMin, Math.floor(looksInWindowMax / Math.max(1, looks)));
}

interface Asking {
  readonly window: Window;
  readonly ask: Ask;
}

/** Rows that make a window; or one alone, with more memberships than one can read. */
interface Part {
  readonly part: readonly number[];
  readonly isWide: boolean;
}

function* packed(ids: readonly number[], counts: ReadonlyMap<number, number>, max: number): Generator<Part> {
  let [part, held]: [number[], number] = [[], 0];
  for (const id of ids) {
    const count = counts.get(id) ?? 0;
    if (part.length > 0 && held + count > max) {
      yield { part, isWide: held > max };
      [part, held] = [[], 0];
    }
    part.push(id);
    held += count;
  }
  if (part.length > 0) yield { part, isWide: held > max };
}

export function sumOf(ranges: readonly IdRange[]): number {
  return ranges.reduce((sum, range) => sum + range.live, 0);
}
