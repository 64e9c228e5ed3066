import { SingleBar } from 'cli-progress';
import { isCompleted } from '../imports/imports.ts';
import type { ImportRun } from '../imports/runs.ts';

/** A bar for the present phase of a run, on a terminal only. */
export class ImportProgress implements Disposable {
  readonly #stream: NodeJS.WriteStream;
  #bar: SingleBar | undefined;
  #phase = '';

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  show({ progress, status }: ImportRun): void {
    if (!this.#stream.isTTY) return;
    if (isCompleted(status)) this.#fill();
    if (progress === undefined) return;
    const { phase, done, total } = progress;
    if (phase !== this.#phase) this.#begin(phase, total);
    this.#bar?.setTotal(total);
    this.#bar?.update(done);
  }

  [Symbol.dispose](): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #begin(phase: string, total: number): void {
    this.#fill();
    this.#bar?.stop();
    this.#phase = phase;
    const format = `${phase.padEnd(10)} {bar} {value}/{total}  {duration_formatted}, {eta_formatted} left`;
    this.#bar = new SingleBar({
      format,
      stream: this.#stream,
      hideCursor: true,
      barsize: 30,
      noTTYOutput: false,
    });
    this.#bar.start(total, 0);
  }

  /** A phase ends between two looks at it. */
  #fill(): void {
    this.#bar?.update(this.#bar.getTotal());
  }
}
