import { expect, test } from 'bun:test';
import { Supervisor } from '../../src/cli/supervisor.ts';
import { createLog } from '../../src/log.ts';
import { openTestDatabase } from '../support/database.ts';

async function openSupervisor(command: readonly string[], onStorageFailed?: () => void) {
  const place = await openTestDatabase('sqlite');
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const supervisor = new Supervisor({
    ...{ command, database: place.database, log, environment: {} },
    ...(onStorageFailed === undefined ? {} : { onStorageFailed }),
  });
  return {
    supervisor,
    lines,
    async [Symbol.asyncDispose]() {
      await supervisor.stop();
      await place[Symbol.asyncDispose]();
    },
  };
}

test('a processor that cannot be started is tried again, and the server goes on', async () => {
  await using open = await openSupervisor(['/nowhere/rollcall', 'processor']);
  open.supervisor.start();
  while (open.supervisor.restarts < 2) await Bun.sleep(10);
  expect(open.supervisor.isRunning).toBe(false);
  expect(open.lines.join('')).toContain('the processor cannot be started');
});

test('a processor that ends by itself is started again, but not once the service is being stopped', async () => {
  await using open = await openSupervisor([process.execPath, '-e', '0']);
  open.supervisor.start();
  while (open.supervisor.restarts < 1) await Bun.sleep(10);
  open.supervisor.retire();
  const { restarts } = open.supervisor;
  await Bun.sleep(500);
  expect(open.supervisor.restarts).toBe(restarts);
});

test('a processor under which the disk failed is not started again: the service is told to stop', async () => {
  let failures = 0;
  const failed = Promise.withResolvers<void>();
  await using open = await openSupervisor([process.execPath, '-e', 'process.exit(74)'], () => {
    failures += 1;
    failed.resolve();
  });
  open.supervisor.start();
  await failed.promise;
  expect([failures, open.supervisor.restarts]).toEqual([1, 0]);
  expect(open.lines.join('')).toContain('the storage has failed under the processor');
});

test('a processor that keeps its turn without answering is killed, and others write on', async () => {
  const hang = "process.send({ writeTurn: 'take' }); setInterval(() => {}, 1000)";
  const place = await openTestDatabase('sqlite');
  const log = createLog({ level: 'error', destination: { write: () => undefined } });
  const command = [process.execPath, '-e', hang];
  const supervisor = new Supervisor({
    command,
    database: place.database,
    log,
    environment: {},
    turnMsMax: 200,
  });
  supervisor.start();
  while (supervisor.restarts < 1) await Bun.sleep(10);
  expect(await place.database.write(async () => 'written')).toBe('written');
  await supervisor.stop();
  await place[Symbol.asyncDispose]();
});
