// The kind `csv` under what every kind has to hold: files of a folder, and an address where only an address can.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContractSource, describeConnectorContract, largeCount } from '../contract.ts';

const key = 'Bearer csv-token-4711';

async function openSource(): Promise<ContractSource> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-csv-contract-'));
  const files = { small: 3, empty: 0, large: largeCount };
  for (const [name, count] of Object.entries(files)) writeFileSync(join(folder, `${name}.csv`), table(count));
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

function table(count: number): string {
  const row = (_: unknown, at: number) =>
    `${at + 1};person${at};"Åse ""A""";Nilsen;p${at}@example.com;"Line 1\nLine 2"\r\n`;
  return `id;username;firstname;surname;email;bio\r\n${Array.from({ length: count }, row).join('')}`;
}

describeConnectorContract({ kind: 'csv', open: openSource });
