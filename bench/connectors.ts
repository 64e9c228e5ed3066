import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../scripts/test-postgres.mjs';
import { writePeopleCsv, writePeoplePostgres, writePeopleSqlite } from './connector-source.ts';
import { median } from './measure.ts';
import type { BenchContext } from './options.ts';

export interface ConnectorCost {
  /** From spawn to exit, the whole document written to a file. */
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakMib: number;
}

export interface ConnectorResult {
  readonly source: string;
  readonly reference: ConnectorCost;
  readonly product: ConnectorCost;
  /** The reference's time divided by ours: 1 is as good as reading and writing alone. */
  readonly ratio: number;
  readonly cpuRatio: number;
}

export interface ConnectorsResult {
  readonly users: number;
  readonly results: readonly ConnectorResult[];
  /** Why PostgreSQL was not measured. */
  readonly missing: string | undefined;
}

interface Source {
  readonly name: string;
  /** Words of the reference. */
  readonly words: readonly string[];
  readonly kind: 'csv' | 'sql';
  readonly config: Readonly<Record<string, unknown>>;
}

const usersDefault = 100_000;
const usersQuick = 5_000;

/** Reference and product take turns on the same sources, each a process of its own. */
export async function measureConnectors(context: BenchContext): Promise<ConnectorsResult> {
  const { options, folder, say } = context;
  const users = options.users ?? (options.quick ? usersQuick : usersDefault);
  const reference = await compileReference(folder);
  say(`connectors: making sources of ${users} people`);
  const postgres = await startPostgres().catch((error: Error) => ({ missing: error.message }));
  try {
    const sources = [...fileSources(folder, users)];
    if ('url' in postgres) sources.push(await postgresSource(postgres.url, users));
    const results = await inTurns(sources, reference, context);
    return { users, results, missing: 'missing' in postgres ? postgres.missing : undefined };
  } finally {
    if ('stop' in postgres) await postgres.stop();
  }
}

async function compileReference(folder: string): Promise<string> {
  const outfile = join(folder, 'connector-steps');
  await Bun.build({
    entrypoints: [join(import.meta.dir, 'reference', 'connector-steps.ts')],
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
    target: 'bun',
    format: 'esm',
    minify: true,
    bytecode: true,
  });
  return outfile;
}

/** As somebody maps a foreign export: templates, a table of values, a pattern. */
const patterns = {
  user: {
    displayname: { template: '{surname}, {firstname}' },
    email: { column: 'email', case: 'lower' },
    active: { column: 'active', values: { true: 'true', left: 'false' } },
    department: { column: 'department', replace: [{ pattern: '^Department (\\d+)$', with: 'D$1' }] },
    'additionalfields.badge': { template: 'N-{employeenumber}' },
  },
};

function fileSources(folder: string, users: number): readonly Source[] {
  const [csv, sqlite] = [join(folder, 'people.csv'), join(folder, 'people.db')];
  writePeopleCsv(csv, users);
  writePeopleSqlite(sqlite, users);
  const csvConfig = { ...csvDefaults, folder, users: 'people.csv' };
  const query = {
    engine: 'sqlite',
    file: sqlite,
    users: 'select * from person',
    tls: true,
    timeoutSeconds: 600,
  };
  return [
    { name: 'csv', kind: 'csv', words: ['csv', csv], config: csvConfig },
    {
      name: 'csv, mapped by patterns',
      kind: 'csv',
      words: ['csv', csv],
      config: { ...csvConfig, mapping: patterns },
    },
    { name: 'sql, SQLite', kind: 'sql', words: ['sqlite', sqlite], config: query },
  ];
}

/** The process of a run is given a configuration that is complete. */
const csvDefaults = {
  membershipUser: '',
  membershipGroup: '',
  delimiter: 'auto',
  quote: '"',
  encoding: 'utf-8',
  header: true,
  completeMarker: '',
  minAgeSeconds: 0,
};

async function postgresSource(url: string, users: number): Promise<Source> {
  await writePeoplePostgres(url, users);
  const { hostname, port, username, password, pathname } = new URL(url);
  const login = { host: hostname, port: Number(port), username, password, database: pathname.slice(1) };
  const config = {
    engine: 'postgres',
    ...login,
    tls: false,
    timeoutSeconds: 600,
    users: 'select * from person',
  };
  return { name: 'sql, PostgreSQL', kind: 'sql', words: ['postgres', url], config };
}

async function inTurns(
  sources: readonly Source[],
  reference: string,
  { executable, folder, options, say }: BenchContext,
): Promise<readonly ConnectorResult[]> {
  const samples = sources.map(() => ({ reference: [] as ConnectorCost[], product: [] as ConnectorCost[] }));
  for (let round = 1; round <= options.rounds; round += 1) {
    say(`connectors: round ${round} of ${options.rounds}`);
    for (const [at, { words, kind, config }] of sources.entries()) {
      const request = {
        action: 'read',
        connector: { kind },
        config,
        source: { name: 'Bench', id: 1 },
        mode: 'full',
        checkpoint: null,
        allowedHosts: [],
      };
      const turns = [
        async () => samples[at]?.reference.push(await run([reference, ...words], folder, '')),
        async () =>
          samples[at]?.product.push(
            await run([executable, 'connector-host'], folder, JSON.stringify(request)),
          ),
      ];
      for (const turn of round % 2 === 0 ? turns.reverse() : turns) await turn();
    }
  }
  return sources.map(({ name }, at) =>
    compared(name, samples[at]?.reference ?? [], samples[at]?.product ?? []),
  );
}

async function run(command: readonly string[], folder: string, input: string): Promise<ConnectorCost> {
  const [out, log] = [join(folder, 'out.xml'), join(folder, 'log')];
  const started = performance.now();
  const child = Bun.spawn([...command], {
    cwd: folder,
    stdin: new Blob([input]),
    stdout: Bun.file(out),
    stderr: Bun.file(log),
  });
  const peak = new HighWater(child.pid);
  const code = await child.exited;
  peak.stop();
  const ms = performance.now() - started;
  if (code !== 0) throw new Error(`${command[0]} failed: ${readFileSync(log, 'utf8').trim()}`);
  if (!(await Bun.file(out).text()).endsWith('</syncdata>\n'))
    throw new Error(`${command[0]} wrote half a document.`);
  rmSync(out);
  const usage = child.resourceUsage();
  const cpuMs = Number(usage?.cpuTime.total ?? 0) / 1_000;
  return { ms, cpuMs, peakMib: peak.mib };
}

const lookEveryMs = 20;

/** The kernel's mark of the most memory a process has held; what wait4 tells begins with that of whoever started it. */
class HighWater {
  readonly #pid: number;
  readonly #timer: Timer;
  mib = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    try {
      const status = readFileSync(`/proc/${this.#pid}/status`, 'utf8');
      this.mib = Math.max(this.mib, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024);
    } catch {
      // It has just ended.
    }
  }
}

function compared(
  source: string,
  references: readonly ConnectorCost[],
  products: readonly ConnectorCost[],
): ConnectorResult {
  const [reference, product] = [medians(references), medians(products)];
  return {
    source,
    reference,
    product,
    ratio: reference.ms / product.ms,
    cpuRatio: reference.cpuMs / product.cpuMs,
  };
}

/** Of memory the greatest counts. */
function medians(costs: readonly ConnectorCost[]): ConnectorCost {
  return {
    ms: median(costs.map(({ ms }) => ms)),
    cpuMs: median(costs.map(({ cpuMs }) => cpuMs)),
    peakMib: Math.max(...costs.map(({ peakMib }) => peakMib)),
  };
}
