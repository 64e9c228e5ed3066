import { SingleBar } from 'cli-progress';
import { isCompleted } from '../imports/imports.ts';
import type { ImportRun, RunProgress } from '../imports/runs.ts';

/** The progress of a run in words: `users, 1200 of 5000 rows (400 a second, 10 s left in this phase)`. */
export function describeProgress(progress: RunProgress): string {
  const { phase, done, total } = progress;
  const pace = paceOf(progress);
  return `${phase}, ${done} of ${total} rows${pace === '' ? '' : ` (${pace} in this phase)`}`;
}

function paceOf({ rate, secondsLeft }: RunProgress): string {
  if (rate === undefined || secondsLeft === undefined) return '';
  return `${Math.round(rate)} a second, ${spanOf(secondsLeft)} left`;
}

function spanOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

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
    this.#bar?.update(done, { pace: paceOf(progress) });
  }

  [Symbol.dispose](): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #begin(phase: string, total: number): void {
    this.#fill();
    this.#bar?.stop();
    this.#phase = phase;
    const format = `${phase.padEnd(10)} {bar} {value}/{total}  {pace}`;
    this.#bar = new SingleBar({
      format,
      stream: this.#stream,
      hideCursor: true,
      barsize: 30,
      noTTYOutput: false,
    });
    this.#bar.start(total, 0, { pace: '' });
  }

  /** A phase ends between two looks at it. */
  #fill(): void {
    this.#bar?.update(this.#bar.getTotal());
  }
}
