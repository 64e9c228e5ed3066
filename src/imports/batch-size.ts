const rowsMin = 5;
const rowsMax = 500;
const targetMs = 10;
/** When nobody has waited lately. Each batch asks for its groups anew, so fewer of them take less time. */
const targetMsAlone = 30;

/** Rows of the next batch, from how long the last ones took: other writers wait for no more than one batch. */
export class BatchSize {
  #rows = 50;

  get rows(): number {
    return this.#rows;
  }

  note(rows: number, elapsedMs: number, isAlone: boolean): void {
    const wanted = Math.round((rows * (isAlone ? targetMsAlone : targetMs)) / Math.max(elapsedMs, 0.1));
    const near = Math.min(Math.max(wanted, Math.floor(this.#rows / 2)), this.#rows * 2);
    this.#rows = Math.min(Math.max(near, rowsMin), rowsMax);
  }
}
