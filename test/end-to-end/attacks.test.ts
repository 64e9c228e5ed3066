// Everything hostile that an uploader can send, through the door of the compiled executable: the answer of each attack,
// the memory of the process that judges it, and that identity providers are served meanwhile.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { PeakMemory } from '../../bench/measure.ts';
import { attackDocumentBytesMax, attacked, sendAttack } from '../support/attack.ts';
import { attacks } from '../support/attack-list.ts';
import { descendants, type Installation, install, type Server } from '../support/executable.ts';

/** MiB that judging a document may take, whatever stands in it; docs/imports.md says so. */
const inspectMibMax = 256;
const sampleMs = 10;
const waitMsMax = 60_000;
const plain = `<syncdata version="1"><syncoptions domain="${attacked.name}" ldapid="${attacked.id}">`;

interface Source {
  readonly id: number;
  readonly token: string;
  readonly baseUrl: string;
}

interface ImportList {
  readonly runs: readonly { readonly importId: number; readonly status: string }[];
}

describe('POST /api/platformsync/:sourceId/upload of the executable', () => {
  let installation: Installation;
  let server: Server;
  let data: string;
  let source: Source;
  let probe: Probe;
  let dripped: Promise<string>;

  beforeAll(async () => {
    installation = install();
    data = join(installation.folder, 'data');
    server = await installation.serve('--data', data);
    const create = (kind: string, name: string) =>
      installation.runJson<Source>('source', 'create', '--kind', kind, '--name', name, '--data', data);
    source = await create('general', attacked.name);
    expect(source.id).toBe(attacked.id);
    const bytesMax = String(attackDocumentBytesMax);
    await installation.run('settings', 'set', 'documentBytesMax', bytesMax, '--data', data);
    probe = probeScim(await create('scim', 'IdP'));
    // Its answer takes ten seconds, during which the attacks go on.
    dripped = answerToDrip();
  });

  afterAll(async () => {
    await server.kill();
    installation[Symbol.dispose]();
  });

  test.each(attacks.map((attack) => [attack.name, attack] as const))('answers %s', async (_name, attack) => {
    using peak = new PeakMemory(server.pid, sampleMs);
    const answer = await sendAttack(server.address, source.token, attack);
    expect(answer.status).toBe(attack.status);
    expect(answer.sentence).toContain(attack.sentence ?? '');
    if (attack.at !== undefined) expect(answer.at).toEqual(attack.at);
    expect(peak.peaks().inspect ?? 0).toBeLessThan(inspectMibMax);
  });

  test('leaves nothing behind of a client that goes away, nor its child', async () => {
    const socket = await openUpload({ 'Content-Length': '1000000' }, plain);
    await until(() => spooled().length > 0);
    socket.destroy();
    await until(() => spooled().length === 0);
    await until(() => inspectors().length === 0);
  });

  test.each([
    ['a shorter length than the body', { 'Content-Length': '20' }, `${plain}`, 400],
    ['two lengths', { 'Content-Length': '20\r\nContent-Length: 30' }, plain, 400],
    [
      'a length and pieces',
      { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' },
      '5\r\nabcde\r\n0\r\n\r\n',
      400,
    ],
    ['a length that is no number', { 'Content-Length': '-1' }, plain, 400],
    ['an unknown transfer encoding', { 'Transfer-Encoding': 'gzip' }, plain, 400],
    ['a piece of a broken length', { 'Transfer-Encoding': 'chunked' }, 'zz\r\nabc\r\n0\r\n\r\n', 400],
  ] as const)('refuses %s', async (_name, headers, body, status) => {
    const socket = await openUpload(headers, body);
    expect(await statusOf(socket)).toBe(status);
  });

  test('refuses a client that sends a few bytes a second', async () => {
    expect(await dripped).toStartWith('HTTP/1.1 503 ');
    expect(await dripped).toContain('The upload is too slow');
  });

  test('has served the identity provider meanwhile, and logged no error', async () => {
    const statuses = await probe.stop();
    expect(statuses.length).toBeGreaterThan(attacks.length);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect(server.log()).not.toContain('"level":"error"');
  });

  test('has queued the accepted documents alone, and keeps nothing of the others', async () => {
    const accepted = attacks.filter(({ status }) => status === 202);
    const list = async () => (await installation.runJson<ImportList>('run', 'list', '--data', data)).runs;
    const isOver = ({ status }: { readonly status: string }) =>
      !['queued', 'planning', 'applying'].includes(status);
    await until(async () => (await list()).every(isOver));
    expect(await list()).toHaveLength(accepted.length);
    expect(spooled()).toEqual([]);
  });

  function spooled(): string[] {
    return readdirSync(join(data, 'drop'));
  }

  function inspectors(): number[] {
    // The processor is the one child that stays.
    return descendants(server.pid).slice(1);
  }

  function openUpload(headers: Readonly<Record<string, string>>, body: string): Promise<Socket> {
    const { hostname, port } = new URL(server.address);
    const lines = Object.entries({
      Host: `${hostname}:${port}`,
      'X-ApiKey': source.token,
      'Content-Type': 'text/xml',
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    return new Promise((resolve, reject) => {
      const socket = createConnection(Number(port), hostname, () => resolve(socket));
      socket.on('error', reject);
      socket.write(`POST /api/platformsync/${attacked.id}/upload HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    });
  }

  async function answerToDrip(): Promise<string> {
    const socket = await openUpload({ 'Content-Length': '1000000' }, plain);
    const timer = setInterval(() => socket.write(' '), 500);
    try {
      return await textOf(socket);
    } finally {
      clearInterval(timer);
      socket.destroy();
    }
  }
});

interface Probe {
  /** Ends the requests; resolves with the status of each. */
  stop(): Promise<readonly number[]>;
}

/** Reads a page of people as an identity provider does, one request after the other. */
function probeScim({ baseUrl, token }: Source): Probe {
  const statuses: number[] = [];
  let isStopped = false;
  const asking = (async () => {
    while (!isStopped) {
      const response = await fetch(`${baseUrl}/Users?count=1`, {
        headers: { authorization: `Bearer ${token}` },
      });
      await response.arrayBuffer();
      statuses.push(response.status);
      await Bun.sleep(20);
    }
  })();
  return {
    async stop() {
      isStopped = true;
      await asking;
      return statuses;
    },
  };
}

/** The first answer; '' when the connection is closed without one. */
function textOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(bytes.toString()));
    socket.once('close', () => resolve(''));
  });
}

async function statusOf(socket: Socket): Promise<number> {
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(await textOf(socket))?.[1]);
  socket.destroy();
  return status;
}

async function until(is: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + waitMsMax;
  while (!(await is())) {
    if (performance.now() > deadline) throw new Error('it did not come to pass');
    await Bun.sleep(20);
  }
}
