import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileSource, type ImportFiles, makeImportFiles } from './import-file.ts';
import { type Latencies, probeWhile } from './import-probe.ts';
import { type Memory, median, memoryOf, PeakMemory } from './measure.ts';
import type { BenchContext } from './options.ts';
import {
  createSource,
  type MadeSource,
  referenceCommand,
  type Server,
  setSetting,
  startProduct,
} from './server.ts';
import { manyUsers, mostUsers } from './targets.ts';

const kinds = ['first', 'unchanged', 'changed', 'identical'] as const;
export type ImportKind = (typeof kinds)[number];

export interface ImportResult {
  readonly users: number;
  readonly fileMib: number;
  /** Milliseconds of each step alone; `xmllint` is absent where it is not installed. */
  readonly steps: Readonly<Record<'saxes' | 'validation' | 'upsert', number>> & {
    readonly xmllint: number | undefined;
  };
  /** Milliseconds of the whole import done barely. */
  readonly limit: Readonly<Record<ImportKind, number>>;
  readonly limitPeakMib: number;
  /** Milliseconds from the first byte of the upload until the run is settled. */
  readonly product: Readonly<Record<ImportKind, number>>;
  /** Of these, until the upload was answered: spooled, judged, queued. */
  readonly accepted: Readonly<Record<ImportKind, number>>;
  /** MiB by process, and `together` of all at one moment. */
  readonly peakMib: Readonly<Record<string, number>>;
  /** `together` of an import of 100,000, beside one of a million. */
  readonly peakMibOfMany: number | undefined;
  readonly memoryAfter: Memory;
  readonly latencies: { readonly idle: Latencies; readonly importing: Latencies };
}

const usersDefault = 100_000;
const usersQuick = 5_000;

/** Reference points and product take turns; each round imports into a new data folder. */
export async function measureImports(context: BenchContext): Promise<ImportResult> {
  const { options, folder, say } = context;
  const users = options.users ?? (options.quick ? usersQuick : usersDefault);
  say(`import: generating ${users} people`);
  const files = await makeImportFiles(folder, users);
  const samples = new Samples();
  for (let round = 1; round <= options.rounds; round += 1) {
    say(`import: round ${round} of ${options.rounds}`);
    await limitRound(context, files, samples);
    await productRound(context, files, samples);
  }
  const peakMibOfMany = users < mostUsers ? undefined : await measurePeakOfMany(context);
  say('import: SCIM requests meanwhile');
  const latencies = await probeWhileImporting(context, files);
  return { ...toResult(samples, files), peakMibOfMany, latencies };
}

/** Of an import a tenth as large, from which memory is not to grow with the people. */
async function measurePeakOfMany(context: BenchContext): Promise<number | undefined> {
  context.say(`import: ${manyUsers} people, for the memory`);
  const folder = join(context.folder, 'many');
  mkdirSync(folder);
  const samples = new Samples();
  await productRound(context, await makeImportFiles(folder, manyUsers), samples);
  rmSync(folder, { recursive: true });
  return samples.peakMib.together;
}

/** Every value that was measured, by name; and those of memory, of which the greatest counts. */
class Samples {
  readonly #values = new Map<string, number[]>();
  memoryAfter: Memory = { residentMib: 0, proportionalMib: 0 };
  readonly peakMib: Record<string, number> = {};
  limitPeakMib = 0;

  add(name: string, value: number): void {
    this.#values.set(name, [...(this.#values.get(name) ?? []), value]);
  }

  median(name: string): number {
    return median(this.#values.get(name) ?? []);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  notePeaks(peaks: Readonly<Record<string, number>>): void {
    for (const [role, mib] of Object.entries(peaks))
      this.peakMib[role] = Math.max(this.peakMib[role] ?? 0, mib);
  }
}

function toResult(samples: Samples, files: ImportFiles): Omit<ImportResult, 'latencies' | 'peakMibOfMany'> {
  const byKind = (prefix: string) =>
    Object.fromEntries(kinds.map((kind) => [kind, samples.median(`${prefix} ${kind}`)])) as Record<
      ImportKind,
      number
    >;
  return {
    users: files.users,
    fileMib: files.bytes / 1024 ** 2,
    steps: {
      saxes: samples.median('saxes'),
      validation: samples.median('validation'),
      upsert: samples.median('upsert'),
      xmllint: samples.has('xmllint') ? samples.median('xmllint') : undefined,
    },
    limit: byKind('limit'),
    limitPeakMib: samples.limitPeakMib,
    product: byKind('product'),
    accepted: byKind('accepted'),
    peakMib: samples.peakMib,
    memoryAfter: samples.memoryAfter,
  };
}

async function limitRound({ folder }: BenchContext, files: ImportFiles, samples: Samples): Promise<void> {
  const home = join(folder, 'limit');
  mkdirSync(home, { recursive: true });
  const database = join(home, 'whole.db');
  for (const step of ['saxes', 'validation', 'upsert'] as const) {
    const inputs = { file: files.first, database: join(home, 'upsert.db'), users: files.users };
    samples.add(step, (await runStep(step, inputs)).ms);
  }
  const xmllintMs = await runXmllint(files.first);
  if (xmllintMs !== undefined) samples.add('xmllint', xmllintMs);
  for (const [kind, file] of sequence(files)) {
    const inputs = { file, database, users: files.users };
    const { ms, peakMib } = await runStep(kind === 'identical' ? 'identical' : 'whole', inputs);
    samples.add(`limit ${kind}`, ms);
    samples.limitPeakMib = Math.max(samples.limitPeakMib, peakMib);
  }
  rmSync(home, { recursive: true });
}

function sequence(files: ImportFiles): readonly (readonly [ImportKind, string])[] {
  return [
    ['first', files.first],
    ['unchanged', files.touched],
    ['changed', files.changed],
    ['identical', files.changed],
  ];
}

interface StepInputs {
  readonly file: string;
  readonly database: string;
  readonly users: number;
}

async function runStep(
  step: string,
  { file, database, users }: StepInputs,
): Promise<{ ms: number; peakMib: number }> {
  const command = referenceCommand('import-steps.ts', step, file, database, String(users));
  const child = Bun.spawn(command, { stderr: 'pipe' });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`The reference step ${step} failed: ${err.slice(-2_000)}`);
  return JSON.parse(out) as { ms: number; peakMib: number };
}

/** Native validation of the same file, where xmllint is installed. */
async function runXmllint(file: string): Promise<number | undefined> {
  const xmllint = Bun.which('xmllint');
  if (xmllint === null) return undefined;
  const schema = join(import.meta.dir, '..', 'schemas', 'profile-sync.xsd');
  const startedMs = performance.now();
  const child = Bun.spawn([xmllint, '--stream', '--noout', '--schema', schema, file], { stderr: 'ignore' });
  if ((await child.exited) !== 0) throw new Error('xmllint finds the generated file invalid.');
  return performance.now() - startedMs;
}

async function productRound(context: BenchContext, files: ImportFiles, samples: Samples): Promise<void> {
  const { executable } = context;
  const home = join(context.folder, 'product');
  const server = await startProduct(executable, home);
  try {
    const source = createFileSource(executable, home);
    using peak = new PeakMemory(server.pid);
    for (const [kind, file] of sequence(files)) {
      const { acceptedMs, settledMs } = await importFile(server, source, file);
      samples.add(`product ${kind}`, settledMs);
      samples.add(`accepted ${kind}`, acceptedMs);
    }
    samples.notePeaks(peak.peaks());
    samples.memoryAfter = memoryOf(server.pid);
  } finally {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

function createFileSource(executable: string, home: string): MadeSource {
  // A million people need more than the service takes unless it is told to.
  setSetting(executable, home, ['documentBytesMax', String(4 * 1024 ** 3)]);
  const source = createSource(executable, home, { kind: 'general', name: fileSource.name });
  if (source.id !== fileSource.id)
    throw new Error(`The first source has the id ${source.id}, not ${fileSource.id}.`);
  return source;
}

const askAgainMs = 20;
const importMsMax = 30 * 60_000;
const succeeded = ['completed', 'unchanged'];
const underWay = ['queued', 'planning', 'applying'];

interface RunAnswer {
  readonly importId: number;
  readonly status: string;
}

/** Uploads as a script would, and waits by asking for the status. */
async function importFile(server: Server, { id, token }: MadeSource, file: string) {
  const base = `${server.origin}/api/platformsync/${id}`;
  const headers = { 'x-apikey': token, 'content-type': 'application/xml' };
  const startedMs = performance.now();
  const upload = await fetch(`${base}/upload`, { method: 'POST', headers, body: Bun.file(file) });
  const acceptedMs = performance.now() - startedMs;
  if (!upload.ok)
    throw new Error(`The upload was refused: ${upload.status} ${(await upload.text()).slice(0, 1_000)}`);
  const { importId, status: first } = (await upload.json()) as RunAnswer;
  let status = first;
  while (underWay.includes(status) && performance.now() - startedMs < importMsMax) {
    await Bun.sleep(askAgainMs);
    const answer = await fetch(`${base}/imports/${importId}`, { headers: { 'x-apikey': token } });
    status = ((await answer.json()) as RunAnswer).status;
  }
  if (!succeeded.includes(status)) throw new Error(`The import ${importId} is ${status}.`);
  return { acceptedMs, settledMs: performance.now() - startedMs };
}

/** One more first import, untimed, during which an identity provider reads and writes. */
async function probeWhileImporting(
  context: BenchContext,
  files: ImportFiles,
): Promise<ImportResult['latencies']> {
  const { executable } = context;
  const home = join(context.folder, 'probe');
  const server = await startProduct(executable, home);
  try {
    const source = createFileSource(executable, home);
    const { token } = createSource(executable, home, {
      kind: 'scim',
      name: 'probe',
      settings: ['rateLimit=0'],
    });
    return await probeWhile({ ...server, origin: `${server.origin}/api/v2/scim/v2` }, token, () =>
      importFile(server, source, files.first),
    );
  } finally {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
