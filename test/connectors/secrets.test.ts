import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConnectorConfig } from '../../src/cli/connector-config.ts';
import { ConnectorLog } from '../../src/connectors/connector-log.ts';
import type { ConnectorKind } from '../../src/connectors/connectors.ts';
import { SecretMask, secretsOf, withoutSecrets } from '../../src/connectors/secrets.ts';

const secret = { type: 'string', writeOnly: true };
const configSchema = {
  type: 'object',
  $defs: { login: { type: 'object', properties: { user: { type: 'string' }, password: secret } } },
  properties: {
    url: { type: 'string' },
    token: secret,
    login: { $ref: '#/$defs/login' },
    headers: { type: 'object', additionalProperties: secret },
    logins: { type: 'array', items: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/login' }] } },
    whole: { type: 'object', writeOnly: true },
    retries: { type: 'integer', default: 3 },
  },
  additionalProperties: false,
};
const config = {
  url: 'https://people.example.com',
  token: 'token-1',
  login: { user: 'ann', password: 'password-2' },
  headers: { 'x-key': 'header-3' },
  logins: [null, { user: 'bob', password: 'password-4' }],
  whole: { deep: ['inside-5'] },
};

describe('the secrets of a configuration', () => {
  test('are found wherever the schema may mean a place', () => {
    const found = secretsOf(configSchema, config).toSorted();
    expect(found).toEqual(['header-3', 'inside-5', 'password-2', 'password-4', 'token-1']);
    expect(JSON.stringify(withoutSecrets(configSchema, config))).not.toMatch(/-[1-5]"/);
    expect(withoutSecrets(configSchema, config)).toMatchObject({ url: config.url, login: { user: 'ann' } });
  });

  test('are none of a schema that refers to itself or to nothing', () => {
    const loop = {
      type: 'object',
      $ref: '#',
      properties: { next: { $ref: '#' }, gone: { $ref: '#/$defs/x' } },
    };
    expect(secretsOf(loop, { next: { next: { gone: 'text' } } })).toEqual([]);
  });
});

describe('SecretMask', () => {
  test('strikes a secret out in the forms in which programs write it, and a key line by line', () => {
    const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqh\n-----END KEY-----';
    const mask = new SecretMask(['pa"ss&w<rd é', key, 'abc']);
    for (const form of [
      'pa"ss&w<rd é',
      'pa\\"ss&w<rd é',
      'pa\\"ss&w<rd \\u00e9',
      'pa"ss&amp;w&lt;rd é',
      'pa%22ss%26w%3Crd%20%C3%A9',
      'pa%22ss%26w%3Crd+%C3%A9',
      'MIIEvQIBADANBgkqh',
    ]) {
      expect(mask.strike(`<${form}>`)).toBe('<********>');
    }
    for (const user of ['a', 'an', 'ann']) {
      const header = Buffer.from(`${user}:pa"ss&w<rd é`).toString('base64');
      expect(mask.strike(header)).toContain('********');
    }
    expect(mask.strike('abc stays: it is too short to be told from other text')).toStartWith('abc');
  });
});

describe('the log of a run', () => {
  const read = (text: string, secrets: string[] = []) => {
    const log = new ConnectorLog(new SecretMask(secrets));
    for (let at = 0; at < text.length; at += 1_000) log.add(Buffer.from(text.slice(at, at + 1_000)));
    log.end();
    return log;
  };

  test('has a level for each line, and no control characters', () => {
    const { lines } = read('plain\nWARN: careful\r\n\n\u001b[31mred\u202e\nerror: gone');
    expect(lines).toEqual([
      { level: 'info', text: 'plain' },
      { level: 'warn', text: 'careful' },
      { level: 'info', text: '[31mred' },
      { level: 'error', text: 'gone' },
    ]);
  });

  test('is cut, says so, and still knows the last words', () => {
    const log = read(`${'line\n'.repeat(20_000)}error: the reason\n`);
    expect(log.lines).toHaveLength(10_001);
    expect(log.lines.at(-1)?.text).toStartWith('The log is cut here');
    expect(log.lastWords).toBe('the reason');
  });

  test('never shows a part of a secret where a line is cut', () => {
    const secret = 'geheim-0123456789';
    for (const before of [16_384 - 5, 2_000 - 5, 16_384 - secret.length]) {
      const { lines } = read(`${'x'.repeat(before)}${secret}${'y'.repeat(50_000)}\n`, [secret]);
      expect(lines.map(({ text }) => text).join('')).not.toContain('geh');
    }
    const long = read(
      `${'line\n'.repeat(20_000)}${'x'.repeat(16_370)}${secret}${'y'.repeat(16_376)}\nerror: x`,
      [secret],
    );
    expect(long.lastWords).toBe('x');
  });
});

test('a configuration takes secrets from variables and files, and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-config-'));
  const kind: ConnectorKind = {
    kind: 'x',
    summary: 'x',
    canDelta: false,
    configSchema,
    form: { form: 'shipped' },
  };
  const read = async (value: unknown) => {
    await Bun.write(join(folder, 'config.json'), JSON.stringify(value));
    return readConnectorConfig(kind, join(folder, 'config.json'));
  };
  process.env.ROLLCALL_TEST_SECRET = 'from-variable';
  try {
    await Bun.write(join(folder, 'key'), 'from-file\n');
    expect(await read({ token: { env: 'ROLLCALL_TEST_SECRET' }, headers: { a: { file: 'key' } } })).toEqual({
      token: 'from-variable',
      headers: { a: 'from-file' },
      retries: 3,
    });
    await expect(read({ url: { env: 'ROLLCALL_TEST_SECRET' } })).rejects.toThrow('"url" must be a text.');
    await expect(read({ token: { env: 'ROLLCALL_TEST_NONE' } })).rejects.toThrow(
      '"token" is to come from the variable ROLLCALL_TEST_NONE, which is not set.',
    );
    await expect(read({ token: { file: 'none' } })).rejects.toThrow('cannot be read: there is none.');
    await expect(read(['secret-text'])).rejects.toThrow('must be a JSON object.');
  } finally {
    delete process.env.ROLLCALL_TEST_SECRET;
    rmSync(folder, { recursive: true });
  }
});
