import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killTree } from '../support/executable.ts';
import { type GeneratedProfile, generateProfileXml } from '../support/generate-profile-xml.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { storedResult } from './stored-result.ts';

const main = join(import.meta.dir, '..', '..', 'src', 'main.ts');
const killsWanted = 50;
const importsMax = 60;
const processesMax = 60;
/** The moments of the kills follow from it. */
const seed = 20_261_122;

const first: GeneratedProfile = {
  users: 300,
  domain: 'HR',
  options: { mode: 'full', actionMissingDeletedUsers: 'a' },
};
/** Everything at once: new people with passwords, renamed, moved, disabled and missing ones, and managers to come. */
const second: GeneratedProfile = {
  ...first,
  users: 400,
  renamed: 0.1,
  moved: 0.3,
  blanked: 0.1,
  removed: 0.05,
  disabled: 0.05,
  passwords: 0.04,
};

/** What a process logs when it has come to a place. */
const marks = ['import planning', 'import applying', 'import completed'] as const;
type Mark = (typeof marks)[number];
type Times = Readonly<Record<Mark | 'intake', number>>;

let folder: string;
/** A data folder in which the first file is imported. */
let prepared: string;
let undisturbed: readonly string[];
/** When an undisturbed process came to each place. */
let calm: Times;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rollcall-kills-'));
  prepared = join(folder, 'prepared');
  await Bun.write(join(folder, 'first.xml'), await documentOf(first));
  await Bun.write(join(folder, 'second.xml'), await documentOf(second));
  const limits = ['guardMinimum=100000', 'guardShrinkPercent=100'].flatMap((limit) => ['--set', limit]);
  await ended(start(prepared, 'source', 'create', '--kind', 'general', '--name', 'HR', ...limits));
  await ended(start(prepared, 'import', join(folder, 'first.xml'), '--source', 'HR'));
  const data = copyOf('undisturbed');
  const work = new Work(start(data, ...importCommand()), data);
  await work.ended();
  calm = work.times();
  undisturbed = storedResult(data);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function documentOf(profile: GeneratedProfile): Promise<Blob> {
  const pieces: BlobPart[] = [];
  for await (const piece of generateProfileXml(profile)) pieces.push(new Uint8Array(piece));
  return new Blob(pieces);
}

function copyOf(name: string): string {
  const copy = join(folder, name);
  cpSync(prepared, copy, { recursive: true });
  return copy;
}

const importCommand = () => ['import', join(folder, 'second.xml'), '--source', 'HR'];

function start(data: string, ...args: readonly string[]) {
  return Bun.spawn([process.execPath, main, ...args, '--data', data], {
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', ROLLCALL_LOG_LEVEL: 'info' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
}

async function ended(child: ReturnType<typeof start>): Promise<void> {
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(errors);
}

/** Documents that are being taken in, or were when somebody was killed. */
function partialsIn(data: string): number {
  const drop = join(data, 'drop');
  return existsSync(drop) ? readdirSync(drop).filter((name) => name.endsWith('.partial')).length : 0;
}

/** A process that takes in or imports the second file, and when it came to which place. */
class Work {
  readonly #child: ReturnType<typeof start>;
  readonly #times = new Map<keyof Times, number>();
  readonly #read: Promise<void>;
  #text = '';

  constructor(child: ReturnType<typeof start>, data: string) {
    this.#child = child;
    this.#read = Promise.all([this.#readLog(), this.#watchIntake(data)]).then(() => undefined);
  }

  async #readLog(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const piece of this.#child.stderr) {
      this.#text += decoder.decode(piece, { stream: true });
      for (const mark of marks) if (this.#text.includes(mark)) this.#note(mark);
    }
  }

  async #watchIntake(data: string): Promise<void> {
    const before = partialsIn(data);
    while (this.#child.exitCode === null && this.#child.signalCode === null && this.#times.size === 0) {
      if (partialsIn(data) > before) this.#note('intake');
      await Bun.sleep(2);
    }
  }

  #note(place: keyof Times): void {
    if (!this.#times.has(place)) this.#times.set(place, performance.now());
  }

  times(): Times {
    const at = (place: keyof Times) => {
      const time = this.#times.get(place);
      if (time === undefined) throw new Error(`never came to ${place}: ${this.#text}`);
      return time;
    };
    const places = ['intake', ...marks] as const;
    return Object.fromEntries(places.map((place) => [place, at(place)])) as Times;
  }

  async ended(): Promise<void> {
    await this.#read;
    if ((await this.#child.exited) !== 0) throw new Error(this.#text);
  }

  /**
   * SIGKILL when this share of the time is over that an undisturbed process takes from the place where this one is
   * first seen to the end, or as soon as it comes to the end.
   */
  async killAt(share: number): Promise<void> {
    while (this.#times.size === 0) {
      if (this.#child.exitCode !== null) throw new Error(`ended before it was at work: ${this.#text}`);
      await Bun.sleep(1);
    }
    const [[place, since] = ['intake', 0] as const] = this.#times;
    const endMs = since + share * (calm['import completed'] - calm[place]);
    while (performance.now() < endMs && !this.#times.has('import completed')) await Bun.sleep(1);
    if ((this.#child.exitCode ?? 0) !== 0) throw new Error(`failed by itself: ${this.#text}`);
    await killTree(this.#child);
    await this.#read;
  }
}

type Place = 'inspection' | 'over' | 'queued' | 'planning' | `applying ${string}`;

/** Where the second import is, as a killed process has left it. */
function placeIn(data: string): Place {
  using db = new Database(join(data, 'rollcall.db'), { readonly: true });
  const run = db.query<{ status: string; phase: string | null }, []>(
    'select status, phase from import_run where id = 2',
  );
  const { status, phase } = run.get() ?? { status: 'inspection', phase: null };
  if (status.startsWith('completed')) return 'over';
  return (phase === null ? status : `${status} ${phase}`) as Place;
}

/** Kills whoever works on the import until it is over; tells where each kill met it. */
async function killUntilOver(data: string, random: () => number): Promise<Place[]> {
  const places: Place[] = [];
  for (let count = 0; count < processesMax; count += 1) {
    const isInspected = places.length > 0 && places.at(-1) !== 'inspection';
    const command = isInspected ? ['processor'] : importCommand();
    // Later kills leave more time: the machine may have become slower since it was measured.
    await new Work(start(data, ...command), data).killAt(random() * (1 + count / 8));
    const place = placeIn(data);
    if (place === 'over') return places;
    places.push(place);
  }
  throw new Error(`not over after ${processesMax} kills: ${places}`);
}

describe('an import whose processes are killed with SIGKILL', () => {
  test(`leaves what an undisturbed one leaves, over ${killsWanted} kills at random moments`, async () => {
    const random = randomNumbers(seed);
    const places: Place[] = [];
    for (let count = 1; places.length < killsWanted; count += 1) {
      expect(count).toBeLessThan(importsMax);
      const data = copyOf(`import${count}`);
      const killedAt = await killUntilOver(data, random);
      expect({ seed, killedAt, stored: storedResult(data) }).toEqual({
        seed,
        killedAt,
        stored: undisturbed as string[],
      });
      places.push(...killedAt);
      rmSync(data, { recursive: true });
    }
    const kinds = new Set(places.map((place) => place.split(' ')[0]));
    expect([...kinds]).toEqual(expect.arrayContaining(['inspection', 'planning', 'applying']));
  }, 300_000);
});
