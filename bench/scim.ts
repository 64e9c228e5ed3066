import { join } from 'node:path';
import { LoadClient } from './load.ts';
import type { BenchContext } from './options.ts';
import { type PhaseResult, Rounds } from './rounds.ts';
import { type HashingGap, measureHashingGap } from './scim-passwords.ts';
import { growPeople, makeLargeGroup, phases, type Side } from './scim-phases.ts';
import {
  createSource,
  freePort,
  referenceCommand,
  type Server,
  startProduct,
  startServer,
} from './server.ts';

export interface ScimResult {
  readonly people: number;
  readonly connections: number;
  readonly phases: readonly PhaseResult[];
  readonly hashing: HashingGap;
}

export const people = 2_000;
export const connections = 16;

/** Both servers take turns, phase by phase, the first place changing with the round. */
export async function measureScim(context: BenchContext): Promise<ScimResult> {
  const { options, say } = context;
  const [limit, product] = await Promise.all([startLimit(context), startRollcall(context)]);
  try {
    const sides = [
      await openSide('reference', limit),
      await openSide('product', product, product.token),
    ] as const;
    for (const side of sides) {
      await growPeople(side, people);
      await makeLargeGroup(side);
    }
    const rounds = new Rounds('scim', options, say);
    const results = await rounds.run(sides, phases);
    const hashing = await measureHashingGap(product);
    for (const side of sides) side.client.close();
    return { people, connections, phases: results, hashing };
  } finally {
    await Promise.all([limit.stop(), product.stop()]);
  }
}

async function startLimit({ folder }: BenchContext): Promise<Server> {
  const port = await freePort();
  const command = referenceCommand('scim-server.ts', join(folder, 'limit.db'), String(port));
  return startServer({ command, port, log: join(folder, 'limit.log') });
}

/** The executable in a data folder of its own, with a source that nothing slows down. */
export async function startRollcall({
  executable,
  folder,
}: BenchContext): Promise<Server & { readonly token: string }> {
  const home = join(folder, 'product');
  const server = await startProduct(executable, home);
  const { token } = createSource(executable, home, {
    kind: 'scim',
    name: 'bench',
    settings: ['rateLimit=0'],
  });
  return { ...server, origin: `${server.origin}/api/v2/scim/v2`, token };
}

export async function openSide(name: Side['name'], { pid, origin }: Server, token?: string): Promise<Side> {
  const address = { baseUrl: origin, ...(token === undefined ? {} : { token }) };
  const client = await LoadClient.open(address, connections);
  return { name, pid, client, people: [], passing: [], groups: [], largeGroup: '', isSlow: false };
}
