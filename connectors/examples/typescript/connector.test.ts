// Runs with "bun test", or without Bun: BUN_BE_BUN=1 rollcall test

import { expect, test } from 'bun:test';
import type { ConnectorContext, ConnectorRecord } from '../../../src/connectors/contract.ts';
import { connector } from './connector.ts';

const pages = [
  { people: [{ id: 1, login: 'ann', first: 'Ann' }], next: 2 },
  { people: [{ id: 2, login: 'bob', left: true }], next: null },
];

/** What a run hands to the connector, as far as it uses it. */
function context(status = 200) {
  const asked: string[] = [];
  const fetch = async (url: string | URL) => {
    asked.push(String(url));
    const page = pages[Number(new URL(url).searchParams.get('page')) - 1];
    return Response.json(page, { status });
  };
  const config = { url: 'https://people.example.com/api', token: 'secret' };
  return { asked, context: { config, fetch } as ConnectorContext<typeof config> };
}

async function read(given: ConnectorContext<{ url: string; token: string }>): Promise<ConnectorRecord[]> {
  return Array.fromAsync(connector.read(given));
}

test('reads every page', async () => {
  const { context: given, asked } = context();
  expect(await read(given)).toMatchObject([
    { kind: 'user', id: '1', username: 'ann', firstname: 'Ann', active: true },
    { kind: 'user', id: '2', username: 'bob', active: false },
  ]);
  expect(asked).toHaveLength(2);
});

test('says what to check when it is refused', async () => {
  const { context: given } = context(401);
  await expect(read(given)).rejects.toThrow(
    'people.example.com answers 401; check the address and the token.',
  );
});
