import { describe, expect, test } from 'bun:test';
import { type TransactionControl, WriteQueue } from '../../src/storage/write-queue.ts';

/** Records what the queue asks of the engine; `fail` lets one of the steps fail. */
class RecordingControl implements TransactionControl {
  readonly steps: string[] = [];
  fail: { readonly step: string; readonly error: unknown } | undefined;

  #note(step: string): void {
    this.steps.push(step);
    if (this.fail?.step === step) throw this.fail.error;
  }

  async begin(isPromised: boolean): Promise<void> {
    if (!isPromised) this.steps.push('unpromised');
    this.#note('begin');
  }
  commit(): void {
    this.#note('commit');
  }
  rollback(): void {
    this.#note('rollback');
  }
  savepoint(): void {
    this.#note('savepoint');
  }
  releaseSavepoint(): void {
    this.#note('release');
  }
  rollbackSavepoint(): void {
    this.#note('undo');
  }
}

function queueOn(control = new RecordingControl()) {
  const fatal: unknown[] = [];
  return { control, fatal, queue: new WriteQueue(control, (error) => fatal.push(error)) };
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('WriteQueue.lend', () => {
  test('lets a job that waits too long behind a turn be refused, and never runs it', async () => {
    const queue = new WriteQueue(new RecordingControl(), () => undefined, 10);
    let giveBack = () => {};
    const turn = queue.lend(() => new Promise((resolve) => (giveBack = resolve)));
    let hasRun = false;
    const job = queue.run(async () => {
      hasRun = true;
    });
    expect(await job.catch((error) => error)).toMatchObject({ kind: 'unavailable' });
    giveBack();
    await turn;
    expect(await queue.run(async () => hasRun)).toBe(false);
  });
});

describe('WriteQueue.run', () => {
  test('lets jobs that wait together share one transaction, with a savepoint each', async () => {
    const { control, queue } = queueOn();
    const done = await Promise.all([1, 2, 3].map((number) => queue.run(async () => number)));
    expect(done).toEqual([1, 2, 3]);
    expect(control.steps).toEqual([
      'begin',
      ...['savepoint', 'release', 'savepoint', 'release', 'savepoint', 'release'],
      'commit',
    ]);
  });

  test('asks for a durable commit if anybody in the group was promised one', async () => {
    const { control, queue } = queueOn();
    await queue.run(async () => 1, false);
    expect(control.steps[0]).toBe('unpromised');
    control.steps.length = 0;
    await Promise.all([queue.run(async () => 2, false), queue.run(async () => 3)]);
    expect(control.steps[0]).toBe('begin');
  });

  test('lets those who wrote together before come a turn of the event loop later', async () => {
    const { control, queue } = queueOn();
    await Promise.all([1, 2, 3].map(() => queue.run(async () => undefined)));
    const first = queue.run(async () => undefined);
    await new Promise<void>((resolve) => setImmediate(resolve));
    await Promise.all([first, queue.run(async () => undefined), queue.run(async () => undefined)]);
    expect(control.steps.filter((step) => step === 'commit')).toHaveLength(2);
  });

  test('settles nothing before the commit', async () => {
    const { control, queue } = queueOn();
    const settled: string[] = [];
    const first = queue.run(async () => 1).then(() => settled.push('first', ...control.steps.slice(-1)));
    await Promise.all([first, queue.run(async () => 2)]);
    expect(settled).toEqual(['first', 'commit']);
  });

  test('undoes a failing job and commits its neighbours', async () => {
    const { control, queue } = queueOn();
    const outcomes = await Promise.allSettled([
      queue.run(async () => 'before'),
      queue.run(async () => Promise.reject(new Error('no'))),
      queue.run(async () => 'after'),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(control.steps.filter((step) => step === 'undo')).toHaveLength(1);
    expect(control.steps.at(-1)).toBe('commit');
  });

  test('rejects everyone when the commit fails', async () => {
    const { control, queue } = queueOn();
    control.fail = { step: 'commit', error: failure('SQLITE_FULL') };
    const outcomes = await Promise.allSettled([queue.run(async () => 1), queue.run(async () => 2)]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected']);
    expect(control.steps.at(-1)).toBe('rollback');
  });

  test('rejects with the reason of the job when the engine has undone the whole transaction', async () => {
    const { control, queue } = queueOn();
    control.fail = { step: 'undo', error: new Error('no such savepoint: job') };
    const full = failure('SQLITE_FULL');
    const outcomes = await Promise.allSettled([
      queue.run(async () => 1),
      queue.run(async () => Promise.reject(full)),
    ]);
    expect(outcomes).toEqual([
      { status: 'rejected', reason: full },
      { status: 'rejected', reason: full },
    ]);
    expect(control.steps).not.toContain('commit');
  });

  test.each(['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_WRITE', 'SQLITE_CORRUPT', 'SQLITE_NOTADB'])(
    'reports %s as fatal whether the commit or a job meets it',
    async (code) => {
      for (const step of ['commit', 'job']) {
        const { control, fatal, queue } = queueOn();
        if (step === 'commit') control.fail = { step, error: failure(code) };
        const work = async () => {
          if (step === 'job') throw failure(code);
        };
        await expect(queue.run(work)).rejects.toThrow(code);
        expect(fatal).toHaveLength(1);
        expect(step === 'job' && control.steps.includes('commit')).toBe(false);
      }
    },
  );

  test('does not take a full disk for fatal', async () => {
    const { fatal, queue } = queueOn();
    await expect(queue.run(async () => Promise.reject(failure('SQLITE_FULL')))).rejects.toThrow(
      'SQLITE_FULL',
    );
    expect(fatal).toEqual([]);
  });

  test('goes on after a transaction that could not begin', async () => {
    const { control, queue } = queueOn();
    control.fail = { step: 'begin', error: failure('SQLITE_BUSY') };
    await expect(queue.run(async () => 1)).rejects.toThrow('SQLITE_BUSY');
    control.fail = undefined;
    expect(await queue.run(async () => 2)).toBe(2);
  });

  test('runs at most 128 jobs in one transaction, in the order in which they came', async () => {
    const { control, queue } = queueOn();
    const order: number[] = [];
    const jobs = Array.from({ length: 300 }, (_, index) => queue.run(async () => void order.push(index)));
    await Promise.all(jobs);
    expect(order).toEqual(Array.from({ length: 300 }, (_, index) => index));
    expect(control.steps.filter((step) => step === 'commit')).toHaveLength(3);
  });

  test('refuses more than 4,096 waiting jobs as unavailable', async () => {
    const { queue } = queueOn();
    const jobs = Array.from({ length: 4_097 }, () => queue.run(async () => 1));
    const outcomes = await Promise.allSettled(jobs);
    expect(outcomes.filter((outcome) => outcome.status === 'rejected')).toHaveLength(1);
    expect(outcomes.at(-1)).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } });
  });
});

describe('WriteQueue.lend', () => {
  test('gives the turn in its place in the line', async () => {
    const { control, queue } = queueOn();
    const order: string[] = [];
    await Promise.all([
      queue.run(async () => void order.push('first')),
      queue.lend(async () => void order.push('lent')),
      queue.run(async () => void order.push('last')),
    ]);
    expect(order).toEqual(['first', 'lent', 'last']);
    expect(control.steps.filter((step) => step === 'commit')).toHaveLength(2);
  });

  test('keeps jobs waiting until the turn is given back', async () => {
    const { control, queue } = queueOn();
    const turn = Promise.withResolvers<void>();
    const lent = queue.lend(() => turn.promise);
    const job = queue.run(async () => 'written');
    await Bun.sleep(5);
    expect(control.steps).toEqual([]);
    turn.resolve();
    await lent;
    expect(await job).toBe('written');
  });

  test('survives a holder that fails', async () => {
    const { queue } = queueOn();
    await queue.lend(async () => Promise.reject(new Error('gone')));
    expect(await queue.run(async () => 1)).toBe(1);
  });

  test('is not refused because many jobs wait: whoever borrows asks only once', async () => {
    const { queue } = queueOn();
    const jobs = Array.from({ length: 4_096 }, () => queue.run(async () => 1));
    await queue.lend(async () => undefined);
    expect(await Promise.all(jobs)).toHaveLength(4_096);
  });
});

describe('WriteQueue.close', () => {
  test('waits for the jobs in the line and refuses later ones', async () => {
    const { queue } = queueOn();
    const job = queue.run(async () => {
      await Bun.sleep(5);
      return 'done';
    });
    await queue.close();
    expect(await Promise.race([job, 'not settled'])).toBe('done');
    await expect(queue.run(async () => 1)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(queue.lend(async () => undefined)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
