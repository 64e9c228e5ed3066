import type { Subprocess } from 'bun';
import type { Log } from '../log.ts';
import type { Database } from '../storage/database.ts';
import { isTurnMessage, TurnLender } from '../storage/write-turn.ts';

export interface SupervisorParts {
  /** How this program starts itself, with the arguments of the processor. */
  readonly command: readonly string[];
  readonly database: Database;
  readonly log: Log;
  /** What reaches the child's environment: nothing but what it needs. */
  readonly environment: Readonly<Record<string, string>>;
}

const restartDelayMsMin = 200;
const restartDelayMsMax = 30_000;
/** A processor that ran for so long failed for a new reason: the delay starts again. */
const settledMs = 60_000;
const stopDeadlineMs = 10_000;

/**
 * Keeps one processor running beside the server: starts it, lends it the right to write, starts it again when it ends,
 * and tells it to stop. The server goes on without it.
 */
export class Supervisor {
  readonly #parts: SupervisorParts;
  #child: Subprocess | undefined;
  #isStopping = false;
  #restartDelayMs = restartDelayMsMin;
  #timer: ReturnType<typeof setTimeout> | undefined;
  restarts = 0;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  start(): void {
    const startedMs = performance.now();
    const lender = { current: undefined as TurnLender | undefined };
    const child = Bun.spawn([...this.#parts.command], {
      env: { ...this.#parts.environment },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      serialization: 'json',
      ipc: (message) => {
        if (isTurnMessage(message)) lender.current?.receive(message);
      },
    });
    lender.current = new TurnLender(this.#parts.database, { send: (message) => sendTo(child, message) });
    this.#child = child;
    void child.exited.then((status) => {
      lender.current?.gone();
      this.#child = undefined;
      this.#onExit(status, performance.now() - startedMs);
    });
  }

  /** Tells the processor that there is something to import. */
  wake(): void {
    if (this.#child !== undefined) sendTo(this.#child, { processor: 'wake' });
  }

  /** Lets the processor finish its batch and end; kills it when it does not. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#timer);
    const child = this.#child;
    if (child === undefined) return;
    sendTo(child, { processor: 'stop' });
    const killer = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
    await child.exited;
    clearTimeout(killer);
  }

  #onExit(status: number, livedMs: number): void {
    if (this.#isStopping) return;
    if (livedMs > settledMs) this.#restartDelayMs = restartDelayMsMin;
    this.restarts += 1;
    this.#parts.log.warn(
      { status, restartInMs: this.#restartDelayMs },
      'the processor has ended; it is started again',
    );
    this.#timer = setTimeout(() => this.start(), this.#restartDelayMs);
    this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, restartDelayMsMax);
  }
}

function sendTo(child: Subprocess, message: unknown): void {
  try {
    child.send(message);
  } catch {
    // It has just ended; its exit is handled where it is noticed.
  }
}
