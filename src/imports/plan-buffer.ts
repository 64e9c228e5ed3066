import type { Issue } from './imports.ts';
import { insertPlanRows, type NewPlanRow } from './plan-store.ts';
import type { PlannedBatch } from './plan-users.ts';
import type { NextBatch, RunWriter } from './run-writer.ts';

const bufferedRowsMax = 2_000;
const bufferedCharactersMax = 8 * 1024 * 1024;
/** In one batch: some ten milliseconds of work. */
const rowsAtOnce = 250;

/** Rows of the plan on their way to the database: many share a transaction when nobody waits to write. */
export class PlanBuffer {
  readonly #writer: RunWriter;
  #rows: NewPlanRow[] = [];
  #issues: Issue[] = [];
  #done = 0;
  #characters = 0;

  constructor(writer: RunWriter) {
    this.#writer = writer;
  }

  /** `done`: records that these rows and issues say everything about. */
  async add({ rows, issues }: PlannedBatch, done: number): Promise<void> {
    for (const row of rows) {
      this.#rows.push({ ...row, run_id: this.#writer.claim.id });
      this.#characters += row.payload?.length ?? 0;
    }
    this.#issues.push(...issues);
    this.#done += done;
    const isFull = this.#rows.length >= bufferedRowsMax || this.#characters >= bufferedCharactersMax;
    if (isFull) await this.flush();
  }

  /** Writes what is left. */
  async flush(): Promise<void> {
    const [rows, issues, done] = [this.#rows, this.#issues, this.#done];
    [this.#rows, this.#issues, this.#done, this.#characters] = [[], [], 0, 0];
    if (rows.length === 0 && issues.length === 0) return;
    const [first, last] = [rows[0]?.seq ?? 0, rows.at(-1)?.seq ?? 0];
    // Rows are numbered without gaps, and the cursor is the last one that is written. Issues may come without any row.
    const next: NextBatch = async (tx, cursor) => {
      const start = Math.min(Math.max(cursor - first + 1, 0), rows.length);
      const some = rows.slice(start, start + rowsAtOnce);
      await insertPlanRows(tx, some);
      const isLast = start + some.length === rows.length;
      return { cursor: some.at(-1)?.seq ?? cursor, ...(isLast ? { issues, done } : {}) };
    };
    do {
      const left = Math.min(last - this.#writer.progress.cursor, rows.length);
      await this.#writer.commitSeries(next, { batchesMax: Math.max(Math.ceil(left / rowsAtOnce), 1) });
    } while (this.#writer.progress.cursor < last);
  }
}
