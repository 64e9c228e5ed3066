import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Flags, loadConfig } from '../../src/config/config.ts';
import { flagOf, optionNames, variableOf } from '../../src/config/options.ts';
import { DomainError } from '../../src/errors.ts';

class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'rollcall-config-'));

  write(name: string, text: string): string {
    const path = join(this.path, name);
    writeFileSync(path, text);
    return path;
  }

  load(flags: Flags, environment: Record<string, string> = {}) {
    return loadConfig({ flags, environment, folder: this.path });
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

function sentenceOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error.detail;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('loadConfig', () => {
  test('gives every setting its default', () => {
    using folder = new Folder();
    const { config, isSet } = folder.load({});
    expect(config).toEqual({
      data: join(folder.path, 'data'),
      host: '127.0.0.1',
      port: 8080,
      publicUrl: undefined,
      allowedHosts: [],
      trustedProxies: [],
      metricsFrom: [],
      tlsCert: undefined,
      tlsKey: undefined,
      database: undefined,
      logLevel: 'info',
    });
    expect([...isSet]).toEqual([]);
  });

  test('takes a flag over a variable, that over the file, and that over the default', () => {
    using folder = new Folder();
    folder.write('rollcall.toml', 'port = 3\nhost = "::1"\nlogLevel = "warn"\n');
    const environment = { ROLLCALL_PORT: '2', ROLLCALL_HOST: '127.0.0.2' };
    const { config, isSet } = folder.load({ data: '.', port: '1' }, environment);
    expect(config).toMatchObject({ port: 1, host: '127.0.0.2', logLevel: 'warn', publicUrl: undefined });
    expect([...isSet].toSorted()).toEqual(['data', 'host', 'logLevel', 'port']);
  });

  test('reads lists with commas, and arrays in the file', () => {
    using folder = new Folder();
    folder.write('rollcall.toml', 'trustedProxies = ["10.0.0.0/8", "::1"]\n');
    const { config } = folder.load({ data: '.', allowedHosts: 'a.example, b.example,' });
    expect(config.allowedHosts).toEqual(['a.example', 'b.example']);
    expect(config.trustedProxies).toEqual(['10.0.0.0/8', '::1']);
  });

  test('takes relative paths of a file from the folder of that file', () => {
    using folder = new Folder();
    const path = folder.write('elsewhere.toml', 'data = "people"\ntlsCert = "c.pem"\ntlsKey = "/k.pem"\n');
    const { config } = loadConfig({ flags: { config: path }, environment: {}, folder: '/' });
    expect(config).toMatchObject({
      data: join(folder.path, 'people'),
      tlsCert: join(folder.path, 'c.pem'),
      tlsKey: '/k.pem',
    });
  });

  test('finds the named file by its variable too', () => {
    using folder = new Folder();
    folder.write('elsewhere.toml', 'port = 4\n');
    expect(folder.load({}, { ROLLCALL_CONFIG: 'elsewhere.toml' }).config.port).toBe(4);
  });

  test('takes an empty variable for one that is not set', () => {
    using folder = new Folder();
    expect(folder.load({}, { ROLLCALL_PORT: '', ROLLCALL_DATABASE: '' }).config).toMatchObject({
      port: 8080,
      database: undefined,
    });
  });

  test('leaves the slash at the end of the public URL away', () => {
    using folder = new Folder();
    expect(folder.load({ publicUrl: 'https://ID.example/people/' }).config.publicUrl).toBe(
      'https://id.example/people',
    );
  });

  test('refuses a wrong value even where another one wins over it', () => {
    using folder = new Folder();
    const takes = 'The setting port takes a whole number from 0 to 65535, not "x"';
    expect(sentenceOf(() => folder.load({ port: '1' }, { ROLLCALL_PORT: 'x' }))).toBe(
      `${takes} (from the variable ROLLCALL_PORT).`,
    );
    const path = folder.write('rollcall.toml', 'port = "x"\n');
    expect(sentenceOf(() => folder.load({ data: '.', port: '1' }))).toBe(`${takes} (from the file ${path}).`);
  });

  test('leaves the file alone for a process that is told everything', () => {
    using folder = new Folder();
    folder.write('rollcall.toml', 'port = "x"\n');
    const sources = { flags: { data: '.' }, environment: {}, folder: folder.path, readsFile: false };
    expect(loadConfig(sources).config.port).toBe(8080);
  });

  const wrongFlags: [flags: Flags, sentence: string][] = [
    [
      { port: '65536' },
      'The setting port takes a whole number from 0 to 65535, not "65536" (from the flag --port).',
    ],
    [{ port: '' }, 'The setting port takes a whole number from 0 to 65535, not "" (from the flag --port).'],
    [
      { port: '8e3' },
      'The setting port takes a whole number from 0 to 65535, not "8e3" (from the flag --port).',
    ],
    [
      { host: '300.1.1.1' },
      'The setting host takes a host name or an IP address, not "300.1.1.1" (from the flag --host).',
    ],
    [
      { publicUrl: 'id.example' },
      'The setting publicUrl takes an http or https address without user, query or fragment, not "id.example" (from the flag --public-url).',
    ],
    [
      { publicUrl: 'https://id.example/?a=b' },
      'The setting publicUrl takes an http or https address without user, query or fragment, not "https://id.example/?a=b" (from the flag --public-url).',
    ],
    [
      { allowedHosts: 'a.example:80' },
      'The setting allowedHosts takes host names or IP addresses, separated by commas, without ports, not "a.example:80" (from the flag --allowed-hosts).',
    ],
    [
      { trustedProxies: '10.0.0.0/33' },
      'The setting trustedProxies takes IP addresses or subnets such as 10.0.0.0/8, separated by commas, not "10.0.0.0/33" (from the flag --trusted-proxies).',
    ],
    [
      { logLevel: 'loud' },
      'The setting logLevel takes one of debug, info, warn, error, not "loud" (from the flag --log-level).',
    ],
    [{ tlsCert: 'c.pem' }, 'The setting tlsCert needs the setting tlsKey as well.'],
    [{ tlsKey: 'k.pem' }, 'The setting tlsKey needs the setting tlsCert as well.'],
  ];
  test.each(wrongFlags)('refuses %j with one sentence', (flags, sentence) => {
    using folder = new Folder();
    expect(sentenceOf(() => folder.load(flags))).toBe(sentence);
  });

  test('never repeats the address of a database', () => {
    using folder = new Folder();
    const sentence = sentenceOf(() =>
      folder.load({}, { ROLLCALL_DATABASE: 'mysql://ann:canary-secret@h/d' }),
    );
    expect(sentence).toBe(
      'The setting database takes an address such as postgres://user:password@host:5432/name, not what was given (from the variable ROLLCALL_DATABASE).',
    );
  });

  const wrongFiles: [text: string, sentence: string][] = [
    [
      'prot = 1',
      'There is no setting "prot"; the settings are data, host, port, publicUrl, allowedHosts, trustedProxies, metricsFrom, tlsCert, tlsKey, database, logLevel (from the file FILE).',
    ],
    ['port = "x"', 'The setting port takes a whole number from 0 to 65535, not "x" (from the file FILE).'],
    ['port = true', 'The setting port takes a whole number from 0 to 65535 (from the file FILE).'],
    ['host = ["a"]', 'The setting host takes a host name or an IP address (from the file FILE).'],
    ['data = "x"', 'The setting data cannot be set by a file in the data folder (from the file FILE).'],
    ['[port]\na = 1', 'The setting port takes a whole number from 0 to 65535 (from the file FILE).'],
  ];
  test.each(wrongFiles)('refuses the file %j with one sentence', (text, sentence) => {
    using folder = new Folder();
    const path = folder.write('rollcall.toml', text);
    expect(sentenceOf(() => folder.load({ data: '.' }))).toBe(sentence.replace('FILE', path));
  });

  test('says where a file is not TOML, without repeating the line', () => {
    using folder = new Folder();
    const path = folder.write('rollcall.toml', 'port = 1\ndatabase = "postgres://ann:canary-secret@h/d\n');
    const sentence = sentenceOf(() => folder.load({ data: '.' }));
    expect(sentence).toMatch(/^Line 2, column \d+ is not TOML: .+ \(from the file .+\)\.$/);
    expect(sentence).toContain(path);
    expect(sentence).not.toContain('canary');
  });

  test('refuses a named file that is not there', () => {
    using folder = new Folder();
    const sentence = sentenceOf(() => folder.load({ config: 'none.toml' }));
    expect(sentence).toBe(`The file ${join(folder.path, 'none.toml')} cannot be read (ENOENT).`);
  });
});

describe('names of settings', () => {
  test('follow from one table', () => {
    expect(optionNames.map((name) => [flagOf(name), variableOf(name)])).toEqual([
      ['--data', 'ROLLCALL_DATA'],
      ['--host', 'ROLLCALL_HOST'],
      ['--port', 'ROLLCALL_PORT'],
      ['--public-url', 'ROLLCALL_PUBLIC_URL'],
      ['--allowed-hosts', 'ROLLCALL_ALLOWED_HOSTS'],
      ['--trusted-proxies', 'ROLLCALL_TRUSTED_PROXIES'],
      ['--metrics-from', 'ROLLCALL_METRICS_FROM'],
      ['--tls-cert', 'ROLLCALL_TLS_CERT'],
      ['--tls-key', 'ROLLCALL_TLS_KEY'],
      ['--database', 'ROLLCALL_DATABASE'],
      ['--log-level', 'ROLLCALL_LOG_LEVEL'],
    ]);
  });
});
