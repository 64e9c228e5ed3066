// The kind `csv` under what every kind has to hold: files of a folder, and an address where only an address can.

import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContractSource, describeConnectorContract, largeCount } from '../contract.ts';

const key = 'Bearer csv-token-4711';

async function openSource(): Promise<ContractSource> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-csv-contract-'));
  writeFileSync(join(folder, 'small.csv'), header + rows(1, 3));
  writeFileSync(join(folder, 'empty.csv'), header);
  writeLarge(join(folder, 'large.csv'));
  let onReached: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    onReached = resolve;
  });
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      if (request.headers.get('authorization') !== key) return new Response('', { status: 401 });
      onReached();
      return new Promise<Response>(() => undefined);
    },
  });
  const address = `http://127.0.0.1:${server.port}/people.csv`;
  const config = (users: string) => ({ folder, users, minAgeSeconds: 0 });
  return {
    config: config('small.csv'),
    badCredentials: { users: address, authorization: 'Bearer another-token-0815' },
    empty: config('empty.csv'),
    large: config('large.csv'),
    silent: { config: { users: address, authorization: key }, reached },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const header = 'id;username;firstname;surname;email;bio\r\n';

function rows(from: number, count: number, bio = ''): string {
  const row = (_: unknown, at: number) =>
    `${from + at};person${from + at};"Åse ""A""";Nilsen;p${from + at}@example.com;"Line 1\nLine 2 ${bio}"\r\n`;
  return Array.from({ length: count }, row).join('');
}

/** More than 100 MB: far more than may be held at a time. */
function writeLarge(path: string): void {
  writeFileSync(path, header);
  const step = 5_000;
  for (let from = 1; from <= largeCount; from += step)
    appendFileSync(path, rows(from, step, 'x'.repeat(960)));
}

describeConnectorContract({ kind: 'csv', open: openSource });
