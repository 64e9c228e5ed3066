// Published SCIM servers against ours, in turns like those against the limit. They keep everything in memory and write nothing
// to disk, which ours does. What the registry does not have is not measured, and the report says so.

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchContext } from './options.ts';
import { type PhaseResult, Rounds } from './rounds.ts';
import { connections, openSide, people, startRollcall } from './scim.ts';
import { growPeople, makeLargeGroup, phases } from './scim-phases.ts';
import { freePort, type Server, startServer } from './server.ts';

export interface PeerResult {
  readonly people: number;
  readonly connections: number;
  /** SCIMMY with its Express routers, or why it is missing. */
  readonly scimmy: { readonly phases: readonly PhaseResult[] } | { readonly missing: string };
}

const packageFolder = join(import.meta.dir, 'reference', 'scimmy');
const files = ['package.json', 'package-lock.json', 'server.mjs'] as const;
const installMsMax = 120_000;

export async function measurePeers(context: BenchContext): Promise<PeerResult> {
  const installed = installScimmy(context.say);
  if ('missing' in installed) {
    context.say(`peers: SCIMMY IS MISSING: ${installed.missing}`);
    return { people, connections, scimmy: installed };
  }
  const scimmy = await startScimmy(context, installed);
  const product = await startRollcall(context);
  try {
    const sides = [
      { ...(await openSide('reference', scimmy)), isSlow: true },
      await openSide('product', product, product.token),
    ] as const;
    context.say(`peers: filling both with ${people} people`);
    for (const side of sides) {
      await growPeople(side, people);
      await makeLargeGroup(side);
    }
    const rounds = new Rounds('peers', context.options, context.say);
    const results = await rounds.run(sides, phases);
    for (const side of sides) side.client.close();
    return { people, connections, scimmy: { phases: results } };
  } finally {
    await Promise.all([scimmy.stop(), product.stop()]);
  }
}

interface Installed {
  readonly node: string;
  readonly folder: string;
}

/** Installs what the lock file says into a folder that later runs find again. */
function installScimmy(say: (line: string) => void): Installed | { readonly missing: string } {
  const [node, npm] = [Bun.which('node'), Bun.which('npm')];
  if (node === null || npm === null) return { missing: 'node and npm are not installed' };
  const folder = join(tmpdir(), `rollcall-bench-scimmy-${hashOfFiles()}`);
  if (existsSync(folder)) return { node, folder };
  say('peers: installing SCIMMY');
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial);
  for (const name of files) copyFileSync(join(packageFolder, name), join(partial, name));
  const command = [npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const ran = Bun.spawnSync(command, { cwd: partial, timeout: installMsMax });
  if (!ran.success) {
    rmSync(partial, { recursive: true });
    return { missing: `npm could not install it: ${lastLine(ran.stderr.toString())}` };
  }
  renameSync(partial, folder);
  return { node, folder };
}

function hashOfFiles(): string {
  const hash = createHash('sha256');
  for (const name of files) hash.update(readFileSync(join(packageFolder, name)));
  return hash.digest('hex').slice(0, 16);
}

function lastLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.startsWith('npm error') && !line.includes('log'));
  return lines[0] ?? 'it says nothing of why';
}

async function startScimmy({ folder }: BenchContext, installed: Installed): Promise<Server> {
  const port = await freePort();
  const command = [installed.node, join(installed.folder, 'server.mjs'), String(port)];
  const environment = { NODE_ENV: 'production' };
  return startServer({ command, port, log: join(folder, 'scimmy.log'), environment });
}
