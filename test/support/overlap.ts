// Changes that overlap because the test says so, not because of luck: one stands before its commit while others run.

import { sql } from 'kysely';
import type { Database, Tx } from '../../src/storage/database.ts';
import { type Answer, TestApp } from './app.ts';

/** A change that is made and not committed. */
export interface OpenChange {
  /** Lets it commit, and resolves with the answer to it. */
  commit(): Promise<Answer>;
}

/** Another server on the database of a test's app, each of whose changes is held before its commit. */
export class HoldingServer {
  readonly app: TestApp;
  readonly #changes = new HeldChanges();

  constructor({ database, location }: TestApp) {
    const close = () => Promise.resolve();
    this.app = new TestApp({ database: this.#changes.of(database), location, close, options: {} });
  }

  /** Resolves when the change of `request` is made. It sends one request with `app.token` of the test's own app. */
  async begin(request: (app: TestApp) => Promise<Answer>): Promise<OpenChange> {
    const made = this.#changes.next();
    const answer = request(this.app);
    const commit = await Promise.race([made, answer.then(({ text }) => Promise.reject(new Error(text)))]);
    return {
      commit: () => {
        commit();
        return answer;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
  }
}

class HeldChanges {
  #made: ((commit: () => void) => void) | undefined;

  next(): Promise<() => void> {
    return new Promise((resolve) => {
      this.#made = resolve;
    });
  }

  of(database: Database): Database {
    return new Proxy(database, {
      get: (target, name) => {
        if (name === 'write')
          return <T>(work: (tx: Tx) => Promise<T>) => target.write((tx) => this.#hold(work(tx)));
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  async #hold<T>(work: Promise<T>): Promise<T> {
    const result = await work;
    await new Promise<void>((resolve) => {
      this.#made === undefined ? resolve() : this.#made(resolve);
      this.#made = undefined;
    });
    return result;
  }
}

/**
 * Runs `request` beside a change that is open: resolves when it is answered, or stands behind the other, as the last of
 * `waiting`. On SQLite everything does. `answer` is to be awaited when the other is committed.
 */
export async function runBeside(
  { database }: TestApp,
  request: Promise<Answer>,
  waiting = 1,
): Promise<{ readonly answer: Promise<Answer> }> {
  let isAnswered = database.dialect === 'sqlite';
  void request.finally(() => {
    isAnswered = true;
  });
  while (!isAnswered && (await countWaiting(database)) < waiting) await Bun.sleep(5);
  return { answer: request };
}

/** How many transactions on PostgreSQL wait for another. */
async function countWaiting({ read }: Database): Promise<number> {
  const { rows } = await sql`select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(read);
  return rows.length;
}
