import type { Database, LentTurn, TakeTurn } from './database.ts';

// SQLite has one writer. The process that serves requests owns the queue; the processor asks it for a turn over the
// channel between them, and gives it back soon after somebody else wants to write.

type TurnMessage = { readonly writeTurn: 'take' | 'yours' | 'wanted' | 'done' };

/** One end of the channel between two processes of ours. */
export interface Channel {
  send(message: TurnMessage): void;
}

/** Messages of other kinds may share the channel. */
export function isTurnMessage(message: unknown): message is TurnMessage {
  return typeof message === 'object' && message !== null && 'writeTurn' in message;
}

/** A batch is meant to take ten milliseconds; a slow disk may make that seconds. */
const defaultTurnMsMax = 10_000;

/** The owner's side: lends turns to one other process. */
export class TurnLender {
  readonly #database: Database;
  readonly #channel: Channel;
  readonly #turnMsMax: number;
  #giveBack: (() => void) | undefined;
  #isGone = false;

  readonly #onOverdue: () => void;
  #deadline: ReturnType<typeof setTimeout> | undefined;

  /** `onOverdue`: the borrower has kept a turn for far longer than any batch takes, and has to be ended. */
  constructor(database: Database, channel: Channel, onOverdue: () => void, turnMsMax = defaultTurnMsMax) {
    this.#database = database;
    this.#channel = channel;
    this.#onOverdue = onOverdue;
    this.#turnMsMax = turnMsMax;
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
      await this.#database.lendTurn((wanted) => this.#hold(wanted));
    } catch {
      // The queue is closing: the borrower goes on waiting, and ends with this process.
    }
  }

  #hold(wanted: Promise<void>): Promise<void> {
    if (this.#isGone) return Promise.resolve();
    return new Promise<void>((resolve) => {
      this.#giveBack = resolve;
      this.#deadline = setTimeout(() => this.#onOverdue(), this.#turnMsMax);
      this.#channel.send({ writeTurn: 'yours' });
      void wanted.then(() => {
        if (this.#giveBack === resolve) this.#channel.send({ writeTurn: 'wanted' });
      });
    });
  }

  #end(): void {
    clearTimeout(this.#deadline);
    this.#giveBack?.();
    this.#giveBack = undefined;
  }
}

/** The borrower's side. */
export class TurnBorrower {
  readonly #channel: Channel;
  readonly #waiting: (() => void)[] = [];
  #isWanted = false;

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  receive({ writeTurn }: TurnMessage): void {
    if (writeTurn === 'wanted') this.#isWanted = true;
    if (writeTurn === 'yours') this.#begin();
  }

  readonly take: TakeTurn = async () => {
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      this.#channel.send({ writeTurn: 'take' });
    });
    return new BorrowedTurn(this.#channel, () => this.#isWanted);
  };

  /** What was said of the turn before has come too late to matter. */
  #begin(): void {
    this.#isWanted = false;
    this.#waiting.shift()?.();
  }
}

class BorrowedTurn implements LentTurn {
  readonly #channel: Channel;
  readonly #asked: () => boolean;

  constructor(channel: Channel, asked: () => boolean) {
    this.#channel = channel;
    this.#asked = asked;
  }

  get isWanted(): boolean {
    return this.#asked();
  }

  giveBack(): void {
    this.#channel.send({ writeTurn: 'done' });
  }
}
