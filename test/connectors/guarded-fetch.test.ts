import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createFetch, type FetchOptions } from '../../src/connectors/guarded-fetch.ts';
import { makeAuthority } from '../support/tls.ts';

type Handler = (request: Request) => Response | Promise<Response>;

const open: { stop: () => void }[] = [];
afterAll(() => {
  for (const { stop } of open) stop();
});

function serve(handler: Handler, tls?: { readonly key: string; readonly cert: string }): number {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: handler,
    idleTimeout: 0,
    ...(tls ? { tls } : {}),
  });
  open.push({ stop: () => void server.stop(true) });
  return server.port ?? 0;
}

/** A server that says what it is told, byte by byte: no HTTP library in the way. */
async function serveRaw(speak: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => speak(socket));
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
  return (server.address() as { port: number }).port;
}

function guarded(options: Partial<FetchOptions> = {}) {
  return createFetch({
    allow: [],
    resolve: async () => ['127.0.0.1'],
    signal: new AbortController().signal,
    ...options,
  });
}

describe('createFetch', () => {
  test('sends method, headers and body to the address, under the name of the URL', async () => {
    const port = serve(async (request) =>
      Response.json([
        request.method,
        request.headers.get('host'),
        request.headers.get('x'),
        await request.text(),
      ]),
    );
    const answer = await guarded()(`http://source.test:${port}/a`, {
      method: 'POST',
      headers: { x: '1', host: 'other.test' },
      body: 'text',
    });
    expect(await answer.json()).toEqual(['POST', `source.test:${port}`, '1', 'text']);
    expect(answer.url).toBe(`http://source.test:${port}/a`);
  });

  test.each(['file:///etc/passwd', 'data:text/plain,x', 'ftp://a.test/', 'blob:x', 'javascript:1'])(
    'refuses %s',
    async (url) => {
      await expect(guarded()(url)).rejects.toThrow('http and https addresses only');
    },
  );

  test('refuses what is no URL, and a URL with a password, without saying either', async () => {
    await expect(guarded()('people.csv')).rejects.toThrow('The address of the source is not a URL.');
    const refusal = guarded()('http://ann:secret@a.test/');
    await expect(refusal).rejects.toThrow('a name or password');
    await expect(refusal).rejects.not.toThrow('secret');
  });

  test.each([
    ...['http://169.254.169.254/', 'http://2852039166/', 'http://0251.0376.0251.0376/', 'http://0xa9fea9fe/'],
    ...['http://[::ffff:169.254.169.254]/', 'http://[fe80::1]/', 'http://0/', 'http://[fd00:ec2::254]/'],
    ...['http://[64:ff9b::169.254.169.254]/'],
  ])('refuses to ask %s', async (url) => {
    await expect(guarded()(url)).rejects.toThrow('may not ask');
  });

  test('refuses a name that resolves to a metadata address', async () => {
    const fetchNow = guarded({ resolve: async () => ['169.254.169.254'] });
    await expect(fetchNow('http://innocent.test/')).rejects.toThrow('may not ask');
  });

  test('refuses a redirection to a metadata address or another protocol', async () => {
    const port = serve((request) =>
      Response.redirect(decodeURIComponent(new URL(request.url).search.slice(1)), 302),
    );
    const via = (target: string) => guarded()(`http://a.test:${port}/?${encodeURIComponent(target)}`);
    await expect(via('http://169.254.169.254/latest/meta-data')).rejects.toThrow('may not ask');
    await expect(via('http://[::ffff:a9fe:a9fe]/')).rejects.toThrow('may not ask');
    await expect(via('file:///etc/passwd')).rejects.toThrow('http and https addresses only');
  });

  test('connects to the address that was looked at, whatever the name server says next', async () => {
    const port = serve(() => new Response('mine'));
    let asked = 0;
    const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['169.254.169.254']);
    const fetchNow = guarded({ resolve });
    expect(await (await fetchNow(`http://rebind.test:${port}/`)).text()).toBe('mine');
    expect(asked).toBe(1);
    await expect(fetchNow(`http://rebind.test:${port}/`)).rejects.toThrow('may not ask');
  });

  test('tries the next address when nothing listens on the first', async () => {
    const port = serve(() => new Response('second'));
    const fetchNow = guarded({ resolve: async () => ['127.0.0.2', '127.0.0.1'] });
    expect(await (await fetchNow(`http://two.test:${port}/`)).text()).toBe('second');
  });

  test('keeps Authorization within an origin and drops every key across origins', async () => {
    const seen = (request: Request) =>
      Response.json([
        request.headers.get('authorization'),
        request.headers.get('x-api-key'),
        request.headers.get('accept'),
      ]);
    const other = serve(seen);
    const port = serve((request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/here') return seen(request);
      return Response.redirect(pathname === '/in' ? '/here' : `http://b.test:${other}/`, 307);
    });
    const headers = { authorization: 'Bearer t', 'x-api-key': 'k', accept: 'text/x' };
    const ask = async (path: string) => (await guarded()(`http://a.test:${port}${path}`, { headers })).json();
    expect(await ask('/in')).toEqual(['Bearer t', 'k', 'text/x']);
    expect(await ask('/out')).toEqual([null, null, 'text/x']);
  });

  test('sends no body to another origin, and turns a POST into a GET where RFC 9110 says so', async () => {
    const echo: Handler = async (request) => Response.json([request.method, await request.text()]);
    const other = serve(echo);
    const port = serve((request) => {
      const { pathname } = new URL(request.url);
      if (pathname === '/echo') return echo(request);
      const target = pathname === '/out' ? `http://b.test:${other}/` : '/echo';
      return Response.redirect(target, pathname === '/see' ? 303 : 307);
    });
    const post = (path: string) =>
      guarded()(`http://a.test:${port}${path}`, { method: 'POST', body: 'secret' });
    expect(await (await post('/keep')).json()).toEqual(['POST', 'secret']);
    expect(await (await post('/see')).json()).toEqual(['GET', '']);
    await expect(post('/out')).rejects.toThrow('redirects a request with a body elsewhere');
  });

  test('gives up on a ring of redirections', async () => {
    const port = serve(() => Response.redirect('/', 302));
    await expect(guarded()(`http://a.test:${port}/`)).rejects.toThrow('redirects more than 5 times');
  });

  test('unzips, and stops a gzip bomb while it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const headers = { 'content-encoding': 'gzip' };
    const port = serve((request) =>
      new URL(request.url).pathname === '/bomb'
        ? new Response(bomb, { headers })
        : new Response(gzipSync('hello'), { headers }),
    );
    const fetchNow = guarded({ bodyBytesMax: 1024 * 1024 });
    const fine = await fetchNow(`http://a.test:${port}/`);
    expect(await fine.text()).toBe('hello');
    expect(fine.headers.get('content-encoding')).toBeNull();
    const answer = await fetchNow(`http://a.test:${port}/bomb`);
    await expect(answer.text()).rejects.toThrow('an answer of more than 1048576 bytes');
  });

  test('refuses what says gzip and is not, and encodings that were not asked for', async () => {
    const port = serve((request) => {
      const encoding = new URL(request.url).pathname.slice(1);
      return new Response('plain text', { headers: { 'content-encoding': encoding } });
    });
    const gzip = await guarded()(`http://a.test:${port}/gzip`);
    await expect(gzip.text()).rejects.toThrow('says gzip and is not');
    await expect(guarded()(`http://a.test:${port}/br`)).rejects.toThrow(
      'an encoding that it was not asked for',
    );
  });

  test('stops an endless body', async () => {
    const port = serve(
      () =>
        new Response(
          new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }),
        ),
    );
    const answer = await guarded({ bodyBytesMax: 1024 * 1024 })(`http://a.test:${port}/`);
    await expect(answer.arrayBuffer()).rejects.toThrow('an answer of more than 1048576 bytes');
  });

  test('gives up on an answer that never begins, falls silent, or drips for ever', async () => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n';
    const mute = await serveRaw(() => undefined);
    await expect(guarded({ headersMsMax: 50 })(`http://a.test:${mute}/`)).rejects.toThrow(
      'did not answer within 0.05 s',
    );
    const halting = await serveRaw((socket) => void socket.write(`${head}x`));
    const silent = await guarded({ silenceMsMax: 50 })(`http://a.test:${halting}/`);
    await expect(silent.text()).rejects.toThrow('fell silent for 0.05 s');
    const dripping = await serveRaw((socket) => {
      socket.write(head);
      const drip = setInterval(() => socket.write('x'), 10);
      socket.once('close', () => clearInterval(drip));
    });
    const slow = await guarded({ totalMsMax: 300 })(`http://a.test:${dripping}/`);
    await expect(slow.text()).rejects.toThrow('did not finish its answer within 0.3 s');
  });

  test('ends at once when the run is cancelled, before the answer and within it', async () => {
    const mute = await serveRaw(() => undefined);
    const before = new AbortController();
    const waiting = guarded({ signal: before.signal })(`http://a.test:${mute}/`);
    before.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    const halting = await serveRaw(
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx'),
    );
    const within = new AbortController();
    const answer = await guarded({ signal: within.signal })(`http://a.test:${halting}/`);
    const reading = answer.text();
    within.abort(new Error('cancelled'));
    await expect(reading).rejects.toThrow('cancelled');
  });

  test('fails on a body that ends before its length', async () => {
    const port = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'));
    const answer = await guarded()(`http://a.test:${port}/`);
    await expect(answer.text()).rejects.toThrow('cannot be asked');
  });

  test('says who does not answer, and never a query that may hold a key', async () => {
    const refusal = guarded()('http://a.test:1/people?key=secret');
    await expect(refusal).rejects.toThrow('http://a.test:1 cannot be asked: nothing listens there.');
  });
});

describe('createFetch over TLS', () => {
  const authority = makeAuthority();
  let port = 0;
  beforeAll(() => {
    port = serve((request) => new Response(request.url), authority.issue('a.test', ['DNS:a.test']));
  });
  afterAll(() => authority[Symbol.dispose]());
  const trusting = { tls: { ca: authority.ca } } as RequestInit;

  test('connects by address and verifies the name of the URL', async () => {
    const answer = await guarded()(`https://a.test:${port}/x`, trusting);
    expect(await answer.text()).toBe(`https://a.test:${port}/x`);
  });

  test('refuses the certificate of another name, even after the right name was answered', async () => {
    await (await guarded()(`https://a.test:${port}/`, trusting)).text();
    await expect(guarded()(`https://b.test:${port}/`, trusting)).rejects.toThrow(
      'its certificate is for another name',
    );
  });

  test('refuses an authority that nobody trusts, and says what to do', async () => {
    await (await guarded()(`https://a.test:${port}/`, trusting)).text();
    await expect(guarded()(`https://a.test:${port}/`)).rejects.toThrow(
      'Put the certificate of the authority',
    );
  });

  test('cannot be told to leave verification out', async () => {
    const careless = {
      tls: { rejectUnauthorized: false, checkServerIdentity: () => undefined },
    } as RequestInit;
    await expect(guarded()(`https://a.test:${port}/`, careless)).rejects.toThrow('is not trusted');
  });

  test('does not follow a redirection that leaves TLS', async () => {
    const leaving = serve(
      () => Response.redirect(`http://a.test:${port}/`, 302),
      authority.issue('leaving', ['DNS:a.test']),
    );
    await expect(guarded()(`https://a.test:${leaving}/`, trusting)).rejects.toThrow(
      'redirects from https to http',
    );
  });

  test('says that a port does not speak TLS', async () => {
    const plain = serve(() => new Response('x'));
    await expect(guarded()(`https://a.test:${plain}/`)).rejects.toThrow('does not answer with TLS');
  });
});
