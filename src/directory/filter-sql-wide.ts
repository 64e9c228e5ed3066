// A group of hundreds of thousands of members (or a person in thousands of groups) cannot be asked anything about them
// in one statement without stopping the service for as long. What a filter or a sort asks about them is asked apart,
// of so many memberships at a time; then the answers stand in the condition for what was asked.

import { sql } from 'kysely';
import type { Reader } from '../storage/database.ts';
import type { Condition, SortKey, Sql } from './filter-sql-place.ts';

/** Memberships behind that with `after`, up to that with `to`. */
export interface Slice {
  readonly after: number;
  readonly to: number;
}

/** One resource whose memberships are read in slices. */
export interface Wide {
  readonly id: number;
  /** A condition that holds when it does for any slice. */
  any(query: (slice: Slice) => Condition): Condition;
  /** The key of the first slice that has a value. */
  first(query: (slice: Slice) => { readonly isThere: Condition; readonly key: Sql }, key: SortKey): Sql;
}

interface Question {
  readonly isThere: (slice: Slice) => Condition;
  readonly key: (slice: Slice) => Sql;
}

interface Answer {
  readonly isThere: boolean;
  readonly key: unknown;
}

const noKey = sql`null`;

/** Collects what is asked when a filter is compiled for the first time; the next time the answers are put in. */
export class WideQuestions {
  readonly #id: number;
  readonly #questions: Question[] = [];
  readonly #answers = new Map<number, Answer>();

  constructor(id: number) {
    this.#id = id;
  }

  get isAnswered(): boolean {
    return this.#answers.size === this.#questions.length;
  }

  /** To compile with, so that all questions become known. */
  collecting(): Wide {
    const add = (question: Question) => void this.#questions.push(question);
    return {
      id: this.#id,
      any(query) {
        add({ isThere: query, key: () => noKey });
        return sql`false`;
      },
      first(query) {
        add({ isThere: (slice) => query(slice).isThere, key: (slice) => query(slice).key });
        return noKey;
      },
    };
  }

  /** To compile with again, in the same order, when the last slice has been asked. */
  answering(): Wide {
    let place = 0;
    const next = () => {
      const answer = this.#answers.get(place);
      place += 1;
      return answer;
    };
    return {
      id: this.#id,
      any: () => (next()?.isThere === true ? sql`true` : sql`false`),
      first: (_query, { type }) => {
        const key = next()?.key ?? null;
        return type === 'number' ? sql`cast(${key} as bigint)` : sql`cast(${key} as text)`;
      },
    };
  }

  /** Asks of one slice what no earlier one has answered. */
  async ask(db: Reader, slice: Slice): Promise<void> {
    const open = [...this.#questions.entries()].filter(([place]) => !this.#answers.has(place));
    const columns = open.flatMap(([place, { isThere, key }]) => [
      sql`(case when ${isThere(slice)} then 1 else 0 end) as ${sql.ref(`is_${place}`)}`,
      sql`${key(slice)} as ${sql.ref(`key_${place}`)}`,
    ]);
    const { rows } = await sql<Record<string, unknown>>`select ${sql.join(columns)}`.execute(db);
    for (const [place] of open) {
      if (Number(rows[0]?.[`is_${place}`]) === 1)
        this.#answers.set(place, { isThere: true, key: rows[0]?.[`key_${place}`] });
    }
  }
}
