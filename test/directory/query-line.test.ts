import { describe, expect, test } from 'bun:test';
import { QueryLine } from '../../src/directory/query-line.ts';

const nobody = undefined;

describe('QueryLine', () => {
  test('has one walk of a source under way, in order, and goes on after a failure', async () => {
    const line = new QueryLine();
    const steps: string[] = [];
    const runs = ['a', 'b', 'c'].map((name) =>
      line.run(1, nobody, async (window) => {
        steps.push(`${name} begins`);
        await window(async () => undefined);
        steps.push(`${name} ends`);
        if (name === 'b') throw new Error('no');
      }),
    );
    const outcomes = (await Promise.allSettled(runs)).map((run) => run.status);
    expect(outcomes).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  test('alternates between sources, one window at a time', async () => {
    const line = new QueryLine();
    const seen: number[] = [];
    let underWay = 0;
    const walk = (source: number, windows: number) =>
      line.run(source, nobody, async (window) => {
        for (let step = 0; step < windows; step += 1) {
          await window(async () => {
            underWay += 1;
            expect(underWay).toBe(1);
            await new Promise<void>((resolve) => setImmediate(resolve));
            seen.push(source);
            underWay -= 1;
          });
        }
      });
    await Promise.all([walk(1, 20), walk(1, 20), walk(2, 3), walk(3, 3)]);
    // Two newcomers with three windows each are done while the first has had about as many.
    expect(seen.slice(0, 10).filter((source) => source !== 1)).toHaveLength(6);
    expect(seen).toHaveLength(46);
  });

  test('lets other work of the thread run between windows', async () => {
    const line = new QueryLine();
    let others = 0;
    let isOver = false;
    const tick = () => {
      others += 1;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    await line.run(1, nobody, async (window) => {
      for (let step = 0; step < 50; step += 1) await window(async () => undefined);
    });
    isOver = true;
    expect(others).toBeGreaterThanOrEqual(40);
  });

  test('goes no further for a client that has gone', async () => {
    const line = new QueryLine();
    const client = new AbortController();
    let windows = 0;
    const walk = line.run(1, client.signal, async (window) => {
      for (;;) {
        await window(async () => {
          windows += 1;
          if (windows === 3) client.abort();
        });
      }
    });
    expect(await walk.catch((error: Error) => error.name)).toBe('AbortError');
    expect(windows).toBe(3);
    expect(await line.run(1, nobody, async (window) => window(async () => 'goes on'))).toBe('goes on');
  });

  test('refuses more than may wait, of one source and of all, but no second of an ordinary source', async () => {
    const line = new QueryLine();
    const ask = (source: number) => line.run(source, nobody, (window) => window(async () => 'answered'));
    const ofOne = await Promise.allSettled(Array.from({ length: 80 }, () => ask(1)));
    const refusedOfOne = ofOne.filter((outcome) => outcome.status === 'rejected');
    expect(refusedOfOne).toHaveLength(16);
    expect(refusedOfOne[0]).toMatchObject({ reason: { kind: 'unavailable', retryAfterSeconds: 2 } });
    const ofAll = await Promise.allSettled(Array.from({ length: 300 }, (_, index) => ask(index)));
    const refusedOfAll = ofAll.filter((outcome) => outcome.status === 'rejected');
    expect(refusedOfAll).toHaveLength(44);
    expect(refusedOfAll[0]).toMatchObject({ reason: { kind: 'unavailable', retryAfterSeconds: 2 } });
  });
});
