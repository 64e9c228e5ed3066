import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Memory, median, memoryOf } from './measure.ts';
import type { BenchContext } from './options.ts';
import { freePort, startProduct, startServer } from './server.ts';

/** Medians of milliseconds from spawn to the first answer. */
export interface StartResult {
  /** A compiled program that loads Elysia, Kysely and SQLite, and only answers. */
  readonly floorMs: number;
  readonly newFolderMs: number;
  readonly existingFolderMs: number;
  /** A moment after its start, having answered nothing but the question whether it is up. */
  readonly idle: Memory;
}

const settleMs = 1_000;

export async function measureStart(context: BenchContext): Promise<StartResult> {
  const { options, folder, say } = context;
  const floor = await compileFloor(folder);
  const samples: { floor: number[]; fresh: number[]; existing: number[] } = {
    floor: [],
    fresh: [],
    existing: [],
  };
  let idle: Memory = { residentMib: 0, proportionalMib: 0 };
  for (let round = 1; round <= options.rounds; round += 1) {
    say(`start: round ${round} of ${options.rounds}`);
    samples.floor.push(await startFloor(floor, folder));
    samples.fresh.push((await startOnce(context, round, 0)).startMs);
    const existing = await startOnce(context, round, settleMs);
    samples.existing.push(existing.startMs);
    idle = existing.memory;
  }
  return {
    floorMs: median(samples.floor),
    newFolderMs: median(samples.fresh),
    existingFolderMs: median(samples.existing),
    idle,
  };
}

async function compileFloor(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, 'floor');
  await Bun.build({
    entrypoints: [join(import.meta.dir, 'reference', 'floor.ts')],
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
    target: 'bun',
    format: 'esm',
    minify: true,
    bytecode: true,
  });
  return outfile;
}

async function startFloor(executable: string, folder: string): Promise<number> {
  const port = await freePort();
  const server = await startServer({
    command: [executable, join(folder, 'floor.db'), String(port)],
    port,
    log: join(folder, 'floor.log'),
  });
  await server.stop();
  return server.startMs;
}

/** The first start of a round meets a folder that is not there, the second the one that the first has made. */
async function startOnce({ executable, folder }: BenchContext, round: number, waitMs: number) {
  const home = join(folder, `round-${round}`);
  const server = await startProduct(executable, home);
  await Bun.sleep(waitMs);
  const memory = memoryOf(server.pid);
  await server.stop();
  if (waitMs > 0) rmSync(home, { recursive: true });
  return { startMs: server.startMs, memory };
}
