import { describe, expect, test } from 'bun:test';
import { QueryTurn } from '../../src/directory/query-turn.ts';

describe('QueryTurn', () => {
  test('runs one at a time, in order, and goes on after a failure', async () => {
    const turn = new QueryTurn();
    const steps: string[] = [];
    const work = (name: string) => async () => {
      steps.push(`${name} begins`);
      await Bun.sleep(1);
      steps.push(`${name} ends`);
      if (name === 'b') throw new Error('no');
    };
    const runs = ['a', 'b', 'c'].map((name) => turn.run(undefined, work(name)));
    expect((await Promise.allSettled(runs)).map((run) => run.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  test('does not run what nobody waits for any more', async () => {
    const turn = new QueryTurn();
    const client = new AbortController();
    let hasRun = false;
    const first = turn.run(undefined, () => Bun.sleep(1));
    const second = turn.run(client.signal, async () => {
      hasRun = true;
    });
    client.abort();
    await first;
    expect(await second.catch((error: Error) => error.name)).toBe('AbortError');
    expect(hasRun).toBe(false);
  });

  test('refuses more than may wait', async () => {
    const turn = new QueryTurn();
    const runs = Array.from({ length: 200 }, () => turn.run(undefined, async () => 'answered'));
    const outcomes = await Promise.allSettled(runs);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ reason: { kind: 'limitExceeded', retryAfterSeconds: 1 } });
  });
});
