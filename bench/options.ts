import { parseArgs } from 'node:util';

export type Part = 'scim' | 'import' | 'start';

export interface BenchOptions {
  readonly json: boolean;
  readonly parts: readonly Part[];
  readonly rounds: number;
  /** Small sizes that show that everything runs; the figures then mean little. */
  readonly quick: boolean;
  /** People in the import file, and up to how many the SCIM directory grows for the growth ratios. */
  readonly users: number | undefined;
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

export const usage = `Usage: bun run bench [--only scim|import|start] [--users N] [--rounds N] [--quick] [--json] [--executable FILE]

  --only PART         measure this part alone (may be repeated)
  --users N           people in the import file (default 100000); given, the SCIM part also grows to N people
  --rounds N          interleaved rounds, of which the median counts (default 5)
  --quick             small sizes and one round: shows that it runs, no more
  --json              print everything that was measured as one JSON object
  --executable FILE   measure this executable instead of building dist/rollcall`;

const parts: readonly Part[] = ['scim', 'import', 'start'];
const usersMax = 1_000_000;
const roundsMax = 100;

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
    executable: values.executable,
  };
}

function readPart(text: string): Part {
  const part = parts.find((each) => each === text);
  if (part === undefined) throw new Error(`--only takes ${parts.join(', ')}, not "${text}".`);
  return part;
}

function readCount(name: string, text: string, max: number): number {
  if (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= max) return Number(text);
  throw new Error(`${name} takes a whole number from 1 to ${max}, not "${text}".`);
}
