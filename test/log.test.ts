import { describe, expect, test } from 'bun:test';
import { createLog, type LogLevel, maskSecrets } from '../src/log.ts';
import { createToken } from '../src/security/tokens.ts';

function capture(level: LogLevel = 'debug') {
  const lines: string[] = [];
  const log = createLog({ level, destination: { write: (line) => lines.push(line) } });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '') };
}

describe('createLog', () => {
  test('writes one JSON object a line, with level, time and message', () => {
    const { log, lines, last } = capture();
    log.info({ requestId: 'r1', status: 200 }, 'request');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toEndWith('}\n');
    const { time, ...rest } = last();
    expect(rest).toEqual({ level: 'info', requestId: 'r1', status: 200, message: 'request' });
    expect(new Date(time).toISOString()).toBe(time);
  });

  test('leaves out what is below its level', () => {
    const { log, lines } = capture('warn');
    log.debug({}, 'a');
    log.info({}, 'b');
    log.warn({}, 'c');
    log.error({}, 'd');
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(['warn', 'error']);
  });

  test('adds the fields of a child to every line of it', () => {
    const { log, last } = capture();
    log.child({ runId: 7 }).warn({ line: 3 }, 'issue');
    expect(last()).toMatchObject({ runId: 7, line: 3, message: 'issue' });
  });

  test('withholds text under a name that is not listed, in a child too', () => {
    const { log, lines } = capture();
    log
      .child({ apiKey: 'canary' })
      .info({ password: 'canary', headers: { cookie: 'canary' }, tries: 2 }, 'x');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      apiKey: '[withheld]',
      password: '[withheld]',
      tries: 2,
    });
    expect(lines.join('')).not.toContain('canary');
  });

  test('masks our tokens and passwords in addresses, wherever they stand', () => {
    const { log, lines } = capture();
    const token = createToken('scim');
    const error = new Error(`no ${token}`, { cause: new Error('at postgres://ann:canary@host/d') });
    log.error({ err: error, body: { note: [token] } }, `with ${token}`);
    expect(lines.join('')).not.toContain(token.slice(16));
    expect(lines.join('')).not.toContain('canary');
    expect(lines.join('')).toContain('postgres://ann:********@host/d');
  });

  test('writes of an error its type, message, code, stack and causes, and no other member', () => {
    const { log, last, lines } = capture();
    const cause = Object.assign(new TypeError('inner'), { code: 'E1', parameters: ['canary'] });
    log.error({ err: new Error('outer', { cause }) }, 'failed');
    expect(last().err).toMatchObject({
      type: 'Error',
      message: 'outer',
      cause: { type: 'TypeError', code: 'E1' },
    });
    expect(last().err.stack).toContain('log.test.ts');
    expect(lines.join('')).not.toContain('canary');
  });

  test('keeps to one line whatever a client sends', () => {
    const { log, lines } = capture();
    log.warn({ path: '/a\r\n{"level":"info"}\u2028\u0085\u001b[31m\u202e' }, 'x\ny');
    expect(lines).toHaveLength(1);
    const line = (lines[0] ?? '').slice(0, -1);
    expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u);
  });

  test('does not let a field stand in for level, time or message', () => {
    const { log, lines } = capture();
    log.info({ level: 'error', message: 'forged' }, 'true');
    expect(lines[0]?.match(/"level":/g)).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', message: 'true' });
  });

  test('bounds long texts, long lists and deep values', () => {
    const { log, lines } = capture();
    const deep: { inner?: unknown } = {};
    deep.inner = deep;
    log.info({ body: 'x'.repeat(1_000_000), repairs: Array(10_000).fill('y'), detail: deep }, 'big');
    expect(lines[0]?.length).toBeLessThan(20_000);
  });
});

describe('maskSecrets', () => {
  test('leaves everything else as it is', () => {
    const text = 'rollcall_scim is a name, https://host:8080/a@b an address, rollcall.db a file';
    expect(maskSecrets(text)).toBe(text);
  });
});
