import { expect, test } from 'bun:test';
import { watchDeadline } from '../../src/imports/child-deadline.ts';
import { inspectInChild } from '../../src/imports/inspector.ts';

const run = (code: string, deadlineMs: number) =>
  inspectInChild({ file: 'x' }, { selfCommand: [process.execPath, '-e', code], deadlineMs });

test('A child that waits is given more time than one that computes', async () => {
  const waiting = 'setTimeout(() => console.log(JSON.stringify({ valid: true })), 3_000)';
  const verdict: unknown = await run(waiting, 2_000);
  expect(verdict).toEqual({ valid: true });
});

test('A child that computes for longer than it may is told from one that waits', async () => {
  // One that does not give way: it gets a tenth of a processor on a busy machine too.
  await using child = Bun.spawn([process.execPath, '-e', 'for (;;);']);
  const lateness = await new Promise((resolve) => {
    const endWatch = watchDeadline(child.pid, 500, (lateness) => {
      endWatch();
      resolve(lateness);
    });
  });
  expect(lateness).toBe('computing');
});

test('A child that gets no processor is given up without a word against its document', async () => {
  await expect(run('setInterval(() => {}, 1_000);', 500)).rejects.toMatchObject({
    kind: 'unavailable',
    detail: 'The machine is too busy to check the file; send it again later.',
    retryAfterSeconds: 60,
  });
});
