import { expect, test } from 'bun:test';
import { inspectInChild } from '../../src/imports/inspector.ts';

const run = (code: string, deadlineMs: number) =>
  inspectInChild({ file: 'x' }, { selfCommand: [process.execPath, '-e', code], deadlineMs });

test('A child that waits is given more time than one that computes', async () => {
  const waiting = 'setTimeout(() => console.log(JSON.stringify({ valid: true })), 3_000)';
  const verdict: unknown = await run(waiting, 2_000);
  expect(verdict).toEqual({ valid: true });
});

test('A child that computes for longer than it may is ended', async () => {
  expect(await run('for (;;);', 500)).toBeUndefined();
});
