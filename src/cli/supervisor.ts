import type { Subprocess } from 'bun';
import { giveWay, modestMemory } from '../imports/give-way.ts';
import type { Log } from '../log.ts';
import type { Database } from '../storage/database.ts';
import { isTurnMessage, TurnLender } from '../storage/write-turn.ts';
import { exitStorageFailed } from './storage-failed.ts';

export interface SupervisorParts {
  /** How this program starts itself, with the arguments of the processor. */
  readonly command: readonly string[];
  readonly database: Database;
  readonly log: Log;
  /** What reaches the child's environment: nothing but what it needs. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Called when the processor has ended because the disk failed under it: what it wrote last may be in nobody's log, and only
   * a process that opens the database anew finds out.
   */
  readonly onStorageFailed?: () => void;
  /** How long the processor may keep a turn to write, milliseconds; the lender's own bound unless given. */
  readonly turnMsMax?: number;
}

const restartDelayMsMin = 200;
const restartDelayMsMax = 30_000;
/** A processor that ran for so long failed for a new reason: the delay starts again. */
const settledMs = 60_000;
/** With less, reading and planning a million records takes longer. */
const memoryMib = 384;
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
    let child: Subprocess;
    const lender = { current: undefined as TurnLender | undefined };
    try {
      child = this.#spawn((message) => {
        if (isTurnMessage(message)) lender.current?.receive(message);
      });
    } catch (error) {
      // The executable is being replaced, or the machine has no more processes to give: later there will be.
      this.#parts.log.error({ err: error }, 'the processor cannot be started');
      this.#onExit(-1, 0);
      return;
    }
    const channel = { send: (message: unknown) => sendTo(child, message) };
    lender.current = new TurnLender(
      this.#parts.database,
      channel,
      () => this.#endHung(child),
      this.#parts.turnMsMax,
    );
    this.#child = child;
    void child.exited.then((status) => {
      lender.current?.gone();
      this.#child = undefined;
      this.#onExit(status, performance.now() - startedMs);
    });
  }

  #spawn(onMessage: (message: unknown) => void): Subprocess {
    const child = Bun.spawn([...this.#parts.command], {
      env: { ...this.#parts.environment, ...modestMemory(memoryMib) },
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
      serialization: 'json',
      ipc: onMessage,
    });
    giveWay(child.pid);
    return child;
  }

  /** Everybody's writes stand behind its turn. What it did not commit is done again by the next one. */
  #endHung(child: Subprocess): void {
    this.#parts.log.error({}, 'the processor keeps the right to write and does not answer; it is killed');
    child.kill('SIGKILL');
  }

  /** From now on a processor that ends is not started again: the whole service is being stopped. */
  retire(): void {
    this.#isStopping = true;
    clearTimeout(this.#timer);
  }

  /** Tells the processor that there is something to import. */
  wake(): void {
    if (this.#child !== undefined) sendTo(this.#child, { processor: 'wake' });
  }

  /** Lets the processor finish its batch and end; kills it when it does not. */
  async stop(): Promise<void> {
    this.retire();
    const child = this.#child;
    if (child === undefined) return;
    sendTo(child, { processor: 'stop' });
    const killer = setTimeout(() => child.kill('SIGKILL'), stopDeadlineMs);
    await child.exited;
    clearTimeout(killer);
  }

  #onExit(status: number, livedMs: number): void {
    if (this.#isStopping) return;
    if (status === exitStorageFailed && this.#parts.onStorageFailed !== undefined) {
      this.#parts.log.error({ status }, 'the storage has failed under the processor; the service stops');
      this.#parts.onStorageFailed();
      return;
    }
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
