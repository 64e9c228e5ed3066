import { describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flagOf, optionNames, variableOf } from '../../src/config/options.ts';
import { readFailure, readJson, Workplace } from './support.ts';

const commands = [
  'serve',
  'source create',
  'source list',
  'source set',
  'source token',
  'source activate',
  'source deactivate',
  'settings get',
  'settings set',
  'field create',
  'field list',
  'persona create',
  'persona list',
  'admin invite',
  'validate',
  'import',
  'user find',
  'user show',
  'schema xsd',
  'schema scim',
  'schema openapi',
  'doctor',
  'migrate',
  'backup',
  'restore',
  'version',
];

describe('rollcall', () => {
  test.each(commands)('%s has a help of its own', async (command) => {
    using place = new Workplace();
    const { status, stdout, stderr } = await place.runPlain(...command.split(' '), '--help');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toStartWith(`Usage: rollcall ${command} `);
  });

  test('help names every command but those that the service runs by itself', async () => {
    using place = new Workplace();
    const { stdout } = await place.runPlain('--help');
    for (const command of commands)
      expect(stdout).toMatch(new RegExp(`^ {2}${command.split(' ')[0]}\\b`, 'm'));
    expect(stdout).not.toMatch(/processor|inspect/);
  });

  test('docs/cli.md tells of every command, flag and variable', async () => {
    const text = await Bun.file(join(import.meta.dir, '..', '..', 'docs', 'cli.md')).text();
    for (const command of commands) expect(text).toContain(`rollcall ${command}`);
    for (const name of optionNames) {
      expect(text).toContain(`\`${flagOf(name)} `);
      expect(text).toContain(`\`${variableOf(name)}\``);
    }
  });

  const misuses: [words: string[], sentence: string][] = [
    [['surce'], "Unknown command 'surce'. (Did you mean source?)"],
    [['source', 'list', '--dta', 'x'], "Unknown option '--dta'. (Did you mean --data?)"],
    [['source', 'set', 'HR'], "Missing required argument 'key=value'."],
    [['source', 'list', '--data'], "Option '--data <DIR>' argument missing."],
  ];
  test.each(misuses)('answers %j with one sentence and exit code 2', async (words, sentence) => {
    using place = new Workplace();
    const outcome = await place.runPlain(...words);
    expect(readFailure(outcome)).toBe(sentence);
    expect(outcome.status).toBe(2);
  });

  test('shows the help of a group that is named without a command, and fails', async () => {
    using place = new Workplace();
    const { status, stdout, stderr } = await place.runPlain('source');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toStartWith('Usage: rollcall source ');
  });

  test('version prints the release, also as JSON', async () => {
    using place = new Workplace();
    expect((await place.runPlain('version')).stdout).toMatch(
      /^rollcall \S+ \(commit \S+, Bun \d+\.\d+\.\d+\)\n$/,
    );
    expect(Object.keys(readJson(await place.runPlain('version', '--json')))).toEqual([
      'version',
      'commit',
      'bun',
    ]);
  });

  test('says which database cannot be reached, without its password', async () => {
    using place = new Workplace();
    place.environment.ROLLCALL_DATABASE = 'postgres://ann:canary-secret@127.0.0.1:1/people';
    const outcome = await place.run('source', 'create', '--kind', 'scim', '--name', 'x', '--verbose');
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toStartWith('rollcall: The database at 127.0.0.1:1 cannot be used: ');
    expect(outcome.stderr).not.toContain('canary-secret');
  });

  test('says that a file is in the place of the data folder', async () => {
    using place = new Workplace();
    writeFileSync(place.data, '');
    expect(readFailure(await place.run('migrate'))).toBe(
      `The data folder ${place.data} cannot be made: a file is in its place.`,
    );
  });

  test('shows the cause of a failure with --verbose only', async () => {
    using place = new Workplace();
    mkdirSync(place.data);
    writeFileSync(`${place.data}/rollcall.db`, 'this is not a database, and long enough to be read as one');
    const quiet = readFailure(await place.run('source', 'list'));
    expect(quiet).toMatch(/^\S+rollcall\.db cannot be opened: file is not a database\.$/);
    const { stderr } = await place.run('source', 'list', '--verbose');
    expect(stderr).toStartWith(`rollcall: ${quiet}\n`);
    expect(stderr).toContain('open-database.ts');
  });

  test('refuses a key that is not one', async () => {
    using place = new Workplace();
    await place.json('migrate');
    writeFileSync(`${place.data}/secret.key`, 'canary-secret');
    const sentence = readFailure(await place.run('source', 'list'));
    expect(sentence).toBe(`${place.data}/secret.key does not hold a key; put the right secret.key back.`);
  });
});
