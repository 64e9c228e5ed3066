import { type Address, LoadClient } from './load.ts';
import { createUser, readId } from './scim-phases.ts';

const passwords = 8;

/**
 * Milliseconds of the slowest GET while eight passwords are hashed at once: hashing belongs to other threads, and a
 * server that did it on its own would answer nobody meanwhile.
 */
export async function measureHashingGap({
  origin,
  token,
}: {
  readonly origin: string;
  readonly token: string;
}): Promise<number> {
  const address: Address = { baseUrl: origin, token };
  const writer = await LoadClient.open(address, passwords);
  const reader = await LoadClient.open(address, 1);
  const create = (from: number) =>
    Array.from({ length: passwords }, (_, i) =>
      createUser(`secret.${from + i}@example.com`, i, { password: `Correct-Horse-${from + i}` }),
    );
  let id = '';
  await writer.send(create(0), { onAnswer: ({ body }) => (id = readId(body)) });
  let isHashed = false;
  const hashing = writer.send(create(passwords)).finally(() => {
    isHashed = true;
  });
  const latenciesMs: number[] = [];
  while (!isHashed) await reader.send([{ method: 'GET', path: `/Users/${id}` }], { latenciesMs });
  await hashing;
  for (const client of [writer, reader]) client.close();
  return Math.max(...latenciesMs);
}
