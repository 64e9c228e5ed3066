import { describe, expect, test } from 'bun:test';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { InboxFolder } from '../../src/archive/inbox-folder.ts';
import { DomainError } from '../../src/errors.ts';
import { DropFolder } from '../../src/imports/drop-folder.ts';
import type { Intake, IntakeRequest } from '../../src/imports/intake.ts';
import { dialects } from '../support/database.ts';
import { type ImportHouse, openImportHouse, profileXml, userXml } from './support.ts';

const file = (...names: string[]) => profileXml(names.map((name) => userXml(name, name)));

/** A house with an inbox, in which time passes only when the test says so. */
class DropHouse {
  readonly inbox: string;
  folder: DropFolder;
  #nowMs = 0;

  constructor(
    readonly house: ImportHouse,
    folders: readonly string[] = ['Human Resources'],
  ) {
    this.inbox = join(house.folder, 'inbox');
    for (const name of folders) mkdirSync(join(this.inbox, name), { recursive: true });
    this.folder = this.open();
  }

  /** As a process does that starts. */
  open(intake: Pick<Intake, 'accept'> = this.house.intake): DropFolder {
    const { database, sources, clock, log } = this.house;
    const inbox = new InboxFolder(this.inbox);
    const monotonicMs = () => this.#nowMs;
    this.folder = new DropFolder({ inbox, database, sources, intake, clock, monotonicMs, log });
    return this.folder;
  }

  path(name: string, folder = 'Human Resources'): string {
    return join(this.inbox, folder, name);
  }

  put(name: string, text: string, folder?: string): void {
    writeFileSync(this.path(name, folder), text);
  }

  advance(seconds: number): void {
    this.#nowMs += seconds * 1_000;
  }

  /** Looks often enough for every whole file to be dealt with. */
  async settle(): Promise<void> {
    await this.folder.look();
    this.advance(60);
    await this.folder.look();
  }

  /** What lies there, without the folder of ours that is empty. */
  files(folder = 'Human Resources'): string[] {
    const all = readdirSync(join(this.inbox, folder), { recursive: true }) as string[];
    return all.filter((name) => name !== '.taking' && name !== 'refused').toSorted();
  }

  why(name: string): string {
    return readFileSync(this.path(join('refused', `${name}.txt`)), 'utf8');
  }

  logged(): string {
    return this.house.logged.join('\n');
  }
}

/** Takes files in, and then fails as a process that is killed. */
function killedAfter(intake: Intake): Pick<Intake, 'accept'> {
  return {
    async accept(request: IntakeRequest) {
      await intake.accept(request);
      throw new Error('killed');
    },
  };
}

for (const dialect of dialects()) {
  describe(`the drop folder on ${dialect}`, () => {
    test('takes a whole file in as an upload would be, and removes it', async () => {
      await using house = await openImportHouse({ dialect });
      const drop = new DropHouse(house);
      drop.put('people.xml', file('ann', 'bob'));
      await drop.settle();
      expect(drop.files()).toEqual([]);
      await house.processor().drain();
      expect(await house.runs.get(1)).toMatchObject({ origin: 'drop', status: 'completed', users: 2 });
      expect(await house.runs.log(1)).toContain('Document: people.xml, ');
      expect(await house.states()).toEqual(['ann active', 'bob active']);
    });

    test('takes no file twice whose process was killed once its run was queued', async () => {
      await using house = await openImportHouse({ dialect });
      const drop = new DropHouse(house);
      drop.put('people.xml', file('ann'));
      drop.open(killedAfter(house.intake));
      await drop.settle();
      expect(drop.files().filter((name) => name.endsWith('people.xml'))).toHaveLength(1);
      drop.open();
      await drop.folder.look();
      expect(drop.files()).toEqual([]);
      expect((await house.runs.list()).map(({ id }) => id)).toEqual([1]);
    });

    test('loses no file whose process was killed before its run was queued', async () => {
      await using house = await openImportHouse({ dialect });
      const drop = new DropHouse(house);
      drop.put('people.xml', file('ann'));
      drop.open({ accept: () => Promise.reject(new Error('killed')) });
      await drop.settle();
      expect(await house.runs.list()).toEqual([]);
      drop.open();
      await drop.folder.look();
      expect(drop.files()).toEqual([]);
      expect(await house.runs.list()).toMatchObject([{ id: 1, origin: 'drop' }]);
      // The ticket is the run's for good: the same file, dropped once more, is another one.
      drop.put('people.xml', file('ann', 'bob'));
      await drop.settle();
      expect(await house.runs.list()).toHaveLength(2);
    });
  });
}

describe('a file in the drop folder', () => {
  test('is left alone while it grows, or bears the name of one that is not whole', async () => {
    await using house = await openImportHouse();
    const drop = new DropHouse(house);
    const text = file('ann');
    drop.put('people.xml', text.slice(0, 50));
    for (const name of ['.people.xml', 'people.xml.part', 'people.tmp', 'people.xml~']) drop.put(name, text);
    for (const end of [60, 70, 80]) {
      await drop.folder.look();
      drop.advance(4);
      drop.put('people.xml', text.slice(0, end));
    }
    drop.put('people.xml', text);
    await drop.folder.look();
    drop.advance(4);
    await drop.folder.look();
    expect(await house.runs.list()).toEqual([]);
    drop.advance(1);
    await drop.folder.look();
    expect(await house.runs.list()).toHaveLength(1);
    expect(drop.files()).toEqual(['.people.xml', 'people.tmp', 'people.xml.part', 'people.xml~']);
    renameSync(drop.path('people.tmp'), drop.path('now.xml'));
    await drop.settle();
    expect(drop.files()).not.toContain('now.xml');
  });

  test('that is not valid is moved to refused/ with what is wrong, line by line', async () => {
    await using house = await openImportHouse();
    const drop = new DropHouse(house);
    drop.put('people.xml', file('ann').replace('<additionalfields>', '<surprise/><additionalfields>'));
    await drop.settle();
    expect(drop.files()).toEqual(['refused/people.xml', 'refused/people.xml.txt']);
    expect(drop.why('people.xml')).toMatch(
      /^people\.xml was not taken in \(2030-\S+\)\.\nline 5, column \d+: The file is invalid compared to the schema\. .+surprise.+\nPut the file/,
    );
    expect(await house.runs.list()).toEqual([]);
    drop.put('people.xml', 'not XML');
    await drop.settle();
    expect(drop.files().filter((name) => name.endsWith('people.xml'))).toHaveLength(2);
    expect(readFileSync(drop.path('refused/people.xml'), 'utf8')).toContain('<surprise/>');
  });

  test('is refused for another source, an empty one after a minute, and any of a source that is not active', async () => {
    await using house = await openImportHouse();
    const drop = new DropHouse(house);
    drop.put('other.xml', profileXml([userXml('a', 'a')], { domain: 'Sales' }));
    drop.put('empty.xml', '');
    await drop.folder.look();
    drop.advance(59);
    await drop.folder.look();
    expect(drop.files()).toEqual(['empty.xml', 'refused/other.xml', 'refused/other.xml.txt']);
    drop.advance(1);
    await drop.folder.look();
    expect(drop.why('empty.xml')).toContain('The file is empty.');
    await house.sources.change('1', { active: false });
    drop.put('late.xml', file('ann'));
    await drop.settle();
    expect(drop.why('late.xml')).toContain('is not active; activate it');
    expect(await house.runs.list()).toEqual([]);
  });

  test('that is a link, a folder or has a second name is refused, and never read', async () => {
    await using house = await openImportHouse();
    const drop = new DropHouse(house);
    const secret = join(house.folder, 'secret.xml');
    writeFileSync(secret, file('ann'));
    symlinkSync(secret, drop.path('link.xml'));
    linkSync(secret, drop.path('hard.xml'));
    mkdirSync(drop.path('folder.xml'));
    writeFileSync(drop.path('folder.xml/people.xml'), file('ann'));
    await drop.settle();
    expect(drop.why('link.xml')).toContain('It is a link');
    expect(drop.why('hard.xml')).toContain('hard link');
    expect(drop.why('folder.xml')).toContain('It is a folder');
    expect(readFileSync(secret, 'utf8')).toBe(file('ann'));
    expect(await house.runs.list()).toEqual([]);
  });

  test('waits while it cannot be taken in, and is taken in later', async () => {
    await using house = await openImportHouse();
    const drop = new DropHouse(house);
    drop.put('people.xml', file('ann'));
    drop.open({ accept: () => Promise.reject(new DomainError('storageFull', 'The disk is full.')) });
    await drop.settle();
    expect(drop.files().some((name) => name.startsWith('refused/'))).toBe(false);
    expect(drop.logged()).toContain('a drop folder cannot be served');
    drop.open();
    await drop.folder.look();
    expect(await house.runs.list()).toHaveLength(1);
  });

  test('comes in after those that are older', async () => {
    await using house = await openImportHouse();
    const drop = new DropHouse(house);
    for (const [index, name] of ['b.xml', 'a.xml', 'c.xml'].entries()) {
      drop.put(name, file(name));
      utimesSync(drop.path(name), 1_000 + index, 1_000 + index);
    }
    await drop.settle();
    const names = await Promise.all([1, 2, 3].map((id) => house.runs.log(id)));
    expect(names.map((log) => /Document: (\S+),/.exec(log)?.[1])).toEqual(['b.xml', 'a.xml', 'c.xml']);
  });
});

describe('a drop folder', () => {
  test('is the one of a source by its name in any case, or by its id, and otherwise left alone', async () => {
    await using house = await openImportHouse();
    await house.addSource('Sales');
    const drop = new DropHouse(house, ['human resources', '2', 'Nobody']);
    drop.put('a.xml', file('ann'), 'human resources');
    drop.put('b.xml', profileXml([userXml('b', 'b')], { domain: 'Sales', ldapid: '2' }), '2');
    drop.put('c.xml', file('ann'), 'Nobody');
    await drop.settle();
    await drop.settle();
    expect((await house.runs.list()).map(({ sourceId }) => sourceId).toSorted()).toEqual([1, 2]);
    expect(drop.files('Nobody')).toEqual(['c.xml']);
    const said = house.logged.filter((line) => line.includes('no general source has this name or id'));
    expect(said).toHaveLength(1);
  });

  test('that is a link, or to which everybody may write, is not used', async () => {
    await using house = await openImportHouse();
    const drop = new DropHouse(house);
    drop.put('people.xml', file('ann'));
    chmodSync(join(drop.inbox, 'Human Resources'), 0o777);
    await drop.settle();
    expect(drop.files()).toEqual(['people.xml']);
    chmodSync(join(drop.inbox, 'Human Resources'), 0o750);
    renameSync(drop.inbox, join(house.folder, 'elsewhere'));
    symlinkSync(join(house.folder, 'elsewhere'), drop.inbox);
    await drop.settle();
    expect(drop.files()).toEqual(['people.xml']);
    expect(drop.logged()).toContain('every user of the machine may write to it');
    expect(drop.logged()).toContain('it is not a folder, or a link to one');
  });

  test('is not made, and not missed', async () => {
    await using house = await openImportHouse();
    const drop = new DropHouse(house, []);
    await drop.settle();
    expect(house.logged).toEqual([]);
    expect(readdirSync(house.folder)).not.toContain('inbox');
  });

  test('goes on with the other sources while one takes long', async () => {
    await using house = await openImportHouse();
    await house.addSource('Sales');
    const drop = new DropHouse(house, ['Human Resources', 'Sales']);
    drop.put('a.xml', file('ann'));
    drop.put('b.xml', profileXml([userXml('b', 'b')], { domain: 'Sales', ldapid: '2' }), 'Sales');
    const released = Promise.withResolvers<void>();
    drop.open({
      async accept(request) {
        if (request.source.name === 'Sales') {
          const receipt = await house.intake.accept(request);
          released.resolve();
          return receipt;
        }
        await released.promise;
        return house.intake.accept(request);
      },
    });
    await drop.settle();
    expect((await house.runs.list()).map(({ sourceId }) => sourceId)).toEqual([1, 2]);
  });

  test('has nothing left in it that a killed process began and did not take', async () => {
    await using house = await openImportHouse();
    const drop = new DropHouse(house);
    mkdirSync(drop.path('.taking/0123456789abcdef0123456789abcdef'), { recursive: true });
    await drop.settle();
    expect(drop.files()).toEqual([]);
    drop.put('cut.xml', file('ann'));
    truncateSync(drop.path('cut.xml'), 60);
    await drop.settle();
    expect(drop.why('cut.xml')).toContain('line ');
  });
});
