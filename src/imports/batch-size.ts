const rowsMin = 5;
const rowsMax = 200;
const targetMs = 10;

/** Rows of the next batch, from how long the last ones took: other writers wait for no more than one batch. */
export class BatchSize {
  #rows = 50;

  get rows(): number {
    return this.#rows;
  }

  note(rows: number, elapsedMs: number): void {
    const wanted = Math.round((rows * targetMs) / Math.max(elapsedMs, 0.1));
    const near = Math.min(Math.max(wanted, Math.floor(this.#rows / 2)), this.#rows * 2);
    this.#rows = Math.min(Math.max(near, rowsMin), rowsMax);
  }
}
