import { describe, expect, test } from 'bun:test';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { type Channel, isTurnMessage, TurnBorrower, TurnLender } from '../../src/storage/write-turn.ts';
import { openTestDatabase } from '../support/database.ts';

/** Both ends of a channel between two processes, here in one. */
async function openPair({ turnMsMax = 10_000 } = {}) {
  const place = await openTestDatabase('sqlite');
  const toBorrower: Channel = { send: (message) => queueMicrotask(() => borrower.receive(message)) };
  const toLender: Channel = { send: (message) => queueMicrotask(() => lender.receive(message)) };
  const overdue: string[] = [];
  const lender = new TurnLender(place.database, toBorrower, () => overdue.push('overdue'), turnMsMax);
  const borrower = new TurnBorrower(toLender);
  const other = openSqlite({ path: place.location, takeTurn: borrower.take });
  return {
    overdue,
    lender,
    borrower,
    owner: place.database,
    other,
    async [Symbol.asyncDispose]() {
      lender.gone();
      await other.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

describe('isTurnMessage', () => {
  test('tells a message of the write turn from others on the channel', () => {
    expect(isTurnMessage({ writeTurn: 'take' })).toBe(true);
    for (const other of [undefined, null, 'take', { wake: true }]) expect(isTurnMessage(other)).toBe(false);
  });
});

describe('a turn', () => {
  test('lets two connections write in turn without either finding the database locked', async () => {
    await using pair = await openPair();
    const advance = (database: typeof pair.owner) =>
      database.write((tx) =>
        tx
          .updateTable('sequence')
          .set((value) => ({ next: value('next', '+', 1) }))
          .where('name', '=', 'User')
          .execute(),
      );
    const writes = Array.from({ length: 60 }, (_, index) =>
      advance(index % 3 === 0 ? pair.other : pair.owner),
    );
    await Promise.all(writes);
    const row = await pair.owner.read
      .selectFrom('sequence')
      .select('next')
      .where('name', '=', 'User')
      .executeTakeFirst();
    expect(row?.next).toBe(61);
  });

  test('that is kept for too long is reported, so that its holder can be ended', async () => {
    await using pair = await openPair({ turnMsMax: 20 });
    await pair.borrower.take();
    while (pair.overdue.length === 0) await Bun.sleep(5);
    expect(pair.overdue).toEqual(['overdue']);
  });

  test('ends when the process that holds it is gone', async () => {
    await using pair = await openPair();
    const turn = await pair.borrower.take();
    const write = pair.owner.write(async () => 'written');
    expect(await Promise.race([write, Bun.sleep(5).then(() => 'waiting')])).toBe('waiting');
    pair.lender.gone();
    expect(await write).toBe('written');
    turn.giveBack();
  });

  test('is not kept by a process that is gone before its turn comes', async () => {
    await using pair = await openPair();
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const first = pair.owner.write(async () => {
      entered.resolve();
      await leave.promise;
    });
    await entered.promise;
    void pair.borrower.take();
    await Bun.sleep(1);
    pair.lender.gone();
    leave.resolve();
    await first;
    expect(await pair.owner.write(async () => 'written')).toBe('written');
  });

  test('is known to be wanted as soon as somebody else waits to write, and not before', async () => {
    await using pair = await openPair();
    const entered = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const borrowed = pair.other.write(async () => {
      entered.resolve();
      await leave.promise;
    });
    await entered.promise;
    await Bun.sleep(1);
    expect(pair.other.isAwaited()).toBe(false);
    const write = pair.owner.write(async () => 'written');
    while (!pair.other.isAwaited()) await Bun.sleep(1);
    leave.resolve();
    expect(await write).toBe('written');
    await borrowed;
    await pair.other.write(async () => {
      await Bun.sleep(1);
      expect(pair.other.isAwaited()).toBe(false);
    });
  });

  test('is wanted from its beginning when somebody else has waited longer', async () => {
    await using pair = await openPair();
    const first = pair.owner.write(() => Bun.sleep(5));
    const turn = pair.borrower.take();
    await Bun.sleep(1);
    const last = pair.owner.write(async () => 'written');
    const { isWanted, giveBack } = await turn.then(async (held) => {
      await Bun.sleep(1);
      return { isWanted: held.isWanted, giveBack: () => held.giveBack() };
    });
    expect(isWanted).toBe(true);
    giveBack();
    await first;
    expect(await last).toBe('written');
  });

  test('is given back after a transaction that fails', async () => {
    await using pair = await openPair();
    await expect(pair.other.write(async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await pair.owner.write(async () => 'written')).toBe('written');
  });
});
