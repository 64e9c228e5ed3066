import type { Database, TakeTurn } from './database.ts';

// SQLite has one writer. The process that serves requests owns the queue; the processor asks it for a turn over the
// channel between them, writes one short batch, and gives the turn back.

type TurnMessage = { readonly writeTurn: 'take' | 'yours' | 'done' };

/** One end of the channel between two processes of ours. */
export interface Channel {
  send(message: TurnMessage): void;
}

/** Messages of other kinds may share the channel. */
export function isTurnMessage(message: unknown): message is TurnMessage {
  return typeof message === 'object' && message !== null && 'writeTurn' in message;
}

/** The owner's side: lends turns to one other process. */
export class TurnLender {
  readonly #database: Database;
  readonly #channel: Channel;
  #giveBack: (() => void) | undefined;
  #isGone = false;

  constructor(database: Database, channel: Channel) {
    this.#database = database;
    this.#channel = channel;
  }

  receive({ writeTurn }: TurnMessage): void {
    if (writeTurn === 'done') this.#end();
    if (writeTurn === 'take') void this.#lend();
  }

  /** The other process has ended: a turn it held or waited for is over. */
  gone(): void {
    this.#isGone = true;
    this.#end();
  }

  async #lend(): Promise<void> {
    try {
      await this.#database.lendTurn(() => this.#hold());
    } catch {
      // The queue is closing: the borrower goes on waiting, and ends with this process.
    }
  }

  #hold(): Promise<void> {
    if (this.#isGone) return Promise.resolve();
    return new Promise<void>((resolve) => {
      this.#giveBack = resolve;
      this.#channel.send({ writeTurn: 'yours' });
    });
  }

  #end(): void {
    this.#giveBack?.();
    this.#giveBack = undefined;
  }
}

/** The borrower's side. */
export class TurnBorrower {
  readonly #channel: Channel;
  readonly #waiting: (() => void)[] = [];

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  receive({ writeTurn }: TurnMessage): void {
    if (writeTurn === 'yours') this.#waiting.shift()?.();
  }

  readonly take: TakeTurn = async () => {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#channel.send({ writeTurn: 'take' });
    });
    return () => this.#channel.send({ writeTurn: 'done' });
  };
}
