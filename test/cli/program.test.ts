import { describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flagOf, optionNames, variableOf } from '../../src/config/options.ts';
import { toSettings } from '../../src/settings/settings.ts';
import { toSourceSettings } from '../../src/sources/source-settings.ts';
import { takeInstanceLock } from '../../src/storage/instance-lock.ts';
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
  'run list',
  'run show',
  'run log',
  'run compare',
  'run approve',
  'run reject',
  'run cancel',
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

  test('docs/cli.md has a row for every setting of sources and of the installation, with its default', async () => {
    const text = await Bun.file(join(import.meta.dir, '..', '..', 'docs', 'cli.md')).text();
    const defaults = [toSourceSettings('scim', {}), toSourceSettings('general', {}), toSettings(new Map())];
    for (const [name, value] of defaults.flatMap((settings) => Object.entries(settings))) {
      const shown = value === '' ? '' : `\`${value}\` `;
      expect(text).toMatch(new RegExp(`^\\| \`${name}\` \\| .+ \\| ${shown}\\| .+ \\|$`, 'm'));
    }
  });

  const misuses: [words: string[], sentence: string][] = [
    [['surce'], "Unknown command 'surce'. (Did you mean source?)"],
    [['source', 'list', '--dta', 'x'], "Unknown option '--dta'. (Did you mean --data?)"],
    [['source', 'set', 'HR'], "Missing required argument 'key=value'."],
    [['source', 'list', 'x'], "Too many arguments for 'list'. Expected 0 arguments but got 1."],
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

  test('help shows the help of the command that is named after it', async () => {
    using place = new Workplace();
    for (const words of [['source', 'create'], ['source'], []]) {
      const helped = await place.runPlain('help', ...words);
      expect(helped.status).toBe(0);
      expect(helped.stdout).toStartWith(`Usage: ${['rollcall', ...words].join(' ')} `);
    }
  });

  test('version prints the release, also as JSON', async () => {
    using place = new Workplace();
    expect(await place.runPlain('--version')).toEqual(await place.runPlain('version'));
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

  test('processor, which the service tells everything, does not read the file', async () => {
    using place = new Workplace();
    mkdirSync(place.data);
    writeFileSync(`${place.data}/secret.key`, 'not a key');
    writeFileSync(`${place.data}/rollcall.toml`, 'port = "wrong"\n');
    expect(readFailure(await place.run('doctor'))).toStartWith('The setting port takes ');
    expect(readFailure(await place.run('processor'))).toContain('secret.key does not hold a key');
  });

  const noDatabase = (data: string) =>
    `There is no database in ${data}; if the service uses PostgreSQL, name it with --database.`;

  test('makes no database for a command that only looks', async () => {
    using place = new Workplace();
    mkdirSync(place.data);
    for (const words of [
      ['source', 'list'],
      ['user', 'find', 'ann'],
      ['run', 'list'],
    ]) {
      expect(readFailure(await place.run(...words))).toBe(noDatabase(place.data));
    }
    expect(readdirSync(place.data)).toEqual([]);
  });

  test('makes no database beside a service that has none in the folder', async () => {
    using place = new Workplace();
    mkdirSync(place.data);
    writeFileSync(`${place.data}/served-address`, 'http://127.0.0.1:1\n');
    const lock = takeInstanceLock(`${place.data}/serve.lock`);
    const create = ['source', 'create', '--kind', 'scim', '--name', 'Okta'];
    expect(readFailure(await place.run(...create))).toBe(noDatabase(place.data));
    expect(readdirSync(place.data)).not.toContain('rollcall.db');
    lock?.release();
    expect(await place.json(...create)).toMatchObject({ name: 'Okta' });
  });

  // Root may write anywhere, unless it is started without that capability.
  const asOrdinary = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : [];
  const canBeRefused =
    process.platform !== 'win32' && asOrdinary.every((_, at) => at > 0 || Bun.which('setpriv'));

  test.if(canBeRefused)('says what in the data folder cannot be written', async () => {
    using place = new Workplace();
    await place.json('source', 'create', '--kind', 'scim', '--name', 'Okta');
    place.launcher = asOrdinary;
    const refused: [path: string, what: string, mode: number][] = [
      [place.data, 'data folder', 0o500],
      [`${place.data}/rollcall.db`, 'file', 0o400],
    ];
    for (const [path, what, mode] of refused) {
      const former = statSync(path).mode;
      chmodSync(path, mode);
      const sentence = `The ${what} ${path} cannot be written; make it writable for the user that runs rollcall.`;
      expect(readFailure(await place.run('source', 'list'))).toBe(sentence);
      expect(readFailure(await place.run('serve', '--port', '0'))).toBe(sentence);
      const { stdout, stderr } = await place.run('doctor');
      expect(stdout).toContain(`WRONG  data folder: ${sentence}\n`);
      expect(stderr).toMatch(/^rollcall: 1 of \d checks found something wrong\.\n$/);
      chmodSync(path, former);
    }
  });

  test('refuses a key that is not one', async () => {
    using place = new Workplace();
    await place.json('migrate');
    writeFileSync(`${place.data}/secret.key`, 'canary-secret');
    const sentence = readFailure(await place.run('source', 'list'));
    expect(sentence).toBe(`${place.data}/secret.key does not hold a key; put the right secret.key back.`);
  });
});
