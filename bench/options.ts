import { parseArgs } from 'node:util';

export type Part = 'scim' | 'peers' | 'scale' | 'import' | 'start' | 'connectors' | 'attacks';

export interface BenchOptions {
  readonly json: boolean;
  readonly parts: readonly Part[];
  readonly rounds: number;
  /** Small sizes that show that everything runs; the figures then mean little. */
  readonly quick: boolean;
  /** People in the import file. */
  readonly users: number | undefined;
  /** People in the directories of the scale part, one directory each. */
  readonly sizes: readonly number[] | undefined;
  /** Folder that keeps the filled directories of the scale part for the next run. */
  readonly keep: string | undefined;
  /** Measured instead of building one. */
  readonly executable: string | undefined;
}

export interface BenchContext {
  readonly options: BenchOptions;
  readonly executable: string;
  /** An empty folder of this part. */
  readonly folder: string;
  /** Tells the person who waits how far it is. */
  readonly say: (line: string) => void;
}

export const usage = `Usage: bun run bench [--only PART] [--rounds N] [--users N] [--sizes N,N,…] [--keep FOLDER] [--quick] [--json]
                     [--executable FILE]

  --only PART         measure this part alone: scim, peers, scale, import, start, connectors or attacks (repeatable)
  --rounds N          interleaved rounds, of which the median counts (default 5)
  --users N           people in the import file, and in sources of connectors (default 100000)
  --sizes N,N,…       people in the directories of the scale part (default 1000,100000,1000000)
  --keep FOLDER       keep the filled directories of the scale part there, and use those that are there
  --quick             small sizes and one round: shows that it runs, no more
  --json              print everything that was measured as one JSON object
  --executable FILE   measure this executable instead of building dist/rollcall`;

const parts: readonly Part[] = ['scim', 'peers', 'scale', 'import', 'start', 'connectors', 'attacks'];
const usersMax = 1_000_000;
const roundsMax = 100;
const sizesMax = 5;

/** Throws an Error with a sentence for a word that it does not know. */
export function readOptions(words: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...words],
    options: {
      help: { type: 'boolean', short: 'h' },
      json: { type: 'boolean' },
      quick: { type: 'boolean' },
      only: { type: 'string', multiple: true },
      users: { type: 'string' },
      sizes: { type: 'string' },
      keep: { type: 'string' },
      rounds: { type: 'string' },
      executable: { type: 'string' },
    },
  });
  if (values.help === true) return 'help';
  const quick = values.quick === true;
  return {
    json: values.json === true,
    quick,
    parts: values.only === undefined ? parts : values.only.map(readPart),
    rounds: values.rounds === undefined ? (quick ? 1 : 5) : readCount('--rounds', values.rounds, roundsMax),
    users: values.users === undefined ? undefined : readCount('--users', values.users, usersMax),
    sizes: values.sizes === undefined ? undefined : readSizes(values.sizes),
    keep: values.keep,
    executable: values.executable,
  };
}

function readPart(text: string): Part {
  const part = parts.find((each) => each === text);
  if (part === undefined) throw new Error(`--only takes ${parts.join(', ')}, not "${text}".`);
  return part;
}

function readSizes(text: string): number[] {
  const sizes = [...new Set(text.split(',').map((each) => readCount('--sizes', each, usersMax)))];
  if (sizes.length > sizesMax) throw new Error(`--sizes takes at most ${sizesMax} numbers.`);
  return sizes;
}

function readCount(name: string, text: string, max: number): number {
  if (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= max) return Number(text);
  throw new Error(`${name} takes a whole number from 1 to ${max}, not "${text}".`);
}
