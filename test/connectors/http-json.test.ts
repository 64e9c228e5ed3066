import { describe, expect, test } from 'bun:test';
import { connector } from '../../connectors/http-json/http-json.ts';
import { nextLink } from '../../connectors/http-json/pages.ts';
import type { User } from '../../src/connectors/contract.ts';
import { connectorContext, readAll } from '../support/connector-context.ts';
import { makeAuthority } from '../support/tls.ts';
import { makePeople, servePeople } from './people-api.ts';

const mapping = { user: { surname: 'name.last', email: 'emails[type=work].value' } };
const total = 25;

/** `size` people from `from` on, of `total`. */
const slice = (from: number, size: number) => makePeople(from, Math.min(size, total - from));
const idsOf = (records: readonly object[]) => records.map((each) => (each as User).id);
const everybody = Array.from({ length: total }, (_, number) => String(number));

describe('http-json, pages', () => {
  test('follows a Link header', async () => {
    using api = servePeople((url) => {
      const from = Number(url.searchParams.get('from') ?? 0);
      const link = `</first>; rel="first", <?from=${from + 10}>; title="a, b"; rel="up next"`;
      return Response.json(slice(from, 10), from + 10 < total ? { headers: { link } } : {});
    });
    const config = { userUrl: `${api.origin}/people?x=1`, paging: { style: 'link-header' }, mapping };
    const records = (await readAll(connector, config)) as User[];
    expect(idsOf(records)).toEqual(everybody);
    expect(records[3]).toMatchObject({ surname: 'Number 3', email: 'a3@example.com' });
  });

  test('follows a link in the body, relative or absolute, over an empty page', async () => {
    using api = servePeople((url) => {
      const from = Number(url.searchParams.get('from') ?? 0);
      if (url.pathname === '/gap') return Response.json({ items: [], _links: { next: '/people?from=10' } });
      const next = { 0: '/gap', 10: `${url.origin}/people?from=20`, 20: null }[from];
      return Response.json({ items: slice(from, 10), _links: { next } });
    });
    const paging = { style: 'body-link', next: '_links.next' };
    const config = { userUrl: `${api.origin}/people`, userRecords: 'items', paging };
    expect(idsOf(await readAll(connector, config))).toEqual(everybody);
  });

  test('hands on a cursor', async () => {
    using api = servePeople((url) => {
      const from = Number(url.searchParams.get('after') ?? 0);
      return Response.json({ data: slice(from, 10), meta: { after: from + 10 < total ? from + 10 : '' } });
    });
    const paging = {
      style: 'cursor',
      next: 'meta.after',
      parameter: 'after',
      sizeParameter: 'limit',
      size: 10,
    };
    const config = { userUrl: `${api.origin}/people?fields=all`, userRecords: '$.data', paging };
    expect(idsOf(await readAll(connector, config))).toEqual(everybody);
    expect(api.requests.map(({ path }) => path)).toEqual([
      '/people?fields=all&limit=10',
      '/people?fields=all&limit=10&after=10',
      '/people?fields=all&limit=10&after=20',
    ]);
  });

  test('counts pages until an empty one, though the server gives less than was asked for', async () => {
    using api = servePeople((url) => {
      const page = Number(url.searchParams.get('p'));
      return Response.json({ data: slice(page * 10, 10).map((attributes) => ({ attributes })) });
    });
    const paging = { style: 'page', parameter: 'p', first: 0, sizeParameter: 'per', size: 50 };
    const config = { userUrl: api.origin, userRecords: 'data[*].attributes', paging };
    expect(idsOf(await readAll(connector, config))).toEqual(everybody);
    expect(api.requests.length).toBe(4);
  });

  test('moves on by as many records as came, and stops at the total', async () => {
    using api = servePeople((url) => {
      const from = Number(url.searchParams.get('offset'));
      return Response.json({ total, list: slice(from, 7) });
    });
    const paging = { style: 'offset', total: 'total' };
    const config = { userUrl: api.origin, userRecords: 'list', paging };
    expect(idsOf(await readAll(connector, config))).toEqual(everybody);
    expect(api.requests.at(-1)?.path).toBe('/?offset=21');
  });

  test.each([
    [{ style: 'page' }, 'gives the same page of people twice'],
    [{ style: 'offset' }, 'gives the same page of people twice'],
    [{ style: 'body-link', next: 'self' }, 'gives the same page of people twice'],
    [{ style: 'cursor', next: 'total' }, 'gives the same page of people twice'],
    [{ total: 'total' }, 'gives 10 of 25 people'],
    [{ total: 'count' }, 'has no number at "count" (paging.total)'],
    [
      { style: 'body-link', next: 'away' },
      'refers to http://elsewhere.test, where the credentials are not sent',
    ],
    [{ style: 'body-link', next: 'people' }, 'is neither a link nor a cursor'],
  ])('takes %j for a failure when the source heeds no parameter', async (paging, sentence) => {
    using api = servePeople(() =>
      Response.json({ people: slice(0, 10), total, self: '/', away: 'http://elsewhere.test/' }),
    );
    const reading = readAll(connector, { userUrl: api.origin, userRecords: 'people', paging });
    await expect(reading).rejects.toThrow(sentence);
  });

  test('stops pages without end', async () => {
    using api = servePeople((url) =>
      Response.json(makePeople(Number(url.searchParams.get('page')) * 10, 10)),
    );
    const reading = readAll(connector, { userUrl: api.origin, paging: { style: 'page', pagesMax: 20 } });
    await expect(reading).rejects.toThrow('There are more than 20 pages of people.');
  });

  test.each([
    [{ items: null }, 'has no list of people at "items". The body has: items.'],
    [{ data: [] }, 'has no list of people at "items". The body has: data.'],
    [[], 'The body itself is a list: its path is $.'],
    ['text', 'The body is neither a list nor an object.'],
    [{ items: [{}, 3] }, 'Number 2 of the list of people at "items" is not an object.'],
    [{ items: [] }, 'The source gives nobody: check userUrl and userRecords'],
    [{ items: [{ name: 'x' }] }, 'it has no id'],
  ])('says what is wrong with the body %j', async (body, sentence) => {
    using api = servePeople(() => Response.json(body));
    await expect(readAll(connector, { userUrl: api.origin, userRecords: 'items' })).rejects.toThrow(sentence);
  });

  test('reads groups from an address of their own, and memberships from the people', async () => {
    using api = servePeople((url) =>
      url.pathname === '/teams'
        ? Response.json({ teams: [{ id: 't1', name: 'Sales' }] })
        : Response.json([{ id: 1, teams: [{ id: 't1' }] }]),
    );
    const config = {
      userUrl: `${api.origin}/people`,
      groupUrl: `${api.origin}/teams`,
      groupRecords: 'teams',
      mapping: { user: { groups: 'teams[*].id' }, group: { type: { constant: 'department' } } },
    };
    expect(await readAll(connector, config)).toEqual([
      { kind: 'group', id: 't1', name: 'Sales', type: 'department' },
      { kind: 'user', id: '1', groups: ['t1'] },
    ]);
  });

  test('keeps the digits of a number that is too long for a number', async () => {
    using api = servePeople(
      () =>
        new Response('[{"id":9007199254740993},{"id":9007199254740992}]', {
          headers: { 'content-type': 'x/json' },
        }),
    );
    expect(idsOf(await readAll(connector, { userUrl: api.origin }))).toEqual([
      '9007199254740993',
      '9007199254740992',
    ]);
  });
});

describe('nextLink', () => {
  test.each([
    ['<a>; rel=next', 'a'],
    ['<a>; rel="prev", <b>; rel="NEXT"', 'b'],
    ['<a,b>; rel="prev next"', 'a,b'],
    ['<a>; rel="nextish"', undefined],
    ['nonsense', undefined],
    [null, undefined],
  ])('reads %j', (header, link) => {
    expect(nextLink(header)).toBe(link as string);
  });
});

describe('http-json, who asks', () => {
  const oneWith = (header: string, value: string) =>
    servePeople((_, request) =>
      request.headers.get(header) === value ? Response.json([{ id: 1 }]) : new Response('', { status: 401 }),
    );

  test('sends a header of its own, a name and password, or a token', async () => {
    using byKey = oneWith('x-api-key', 'k');
    const key = { type: 'header', header: 'X-Api-Key', value: 'k' };
    expect(await readAll(connector, { userUrl: byKey.origin, auth: key })).toHaveLength(1);
    using byName = oneWith('authorization', `Basic ${btoa('ann:pass:word')}`);
    const basic = { type: 'basic', username: 'ann', password: 'pass:word' };
    expect(await readAll(connector, { userUrl: byName.origin, auth: basic })).toHaveLength(1);
    using byToken = oneWith('authorization', 'Bearer t');
    expect(
      await readAll(connector, { userUrl: byToken.origin, auth: { type: 'bearer', token: 't' } }),
    ).toHaveLength(1);
  });

  test.each([
    [{ type: 'header', header: 'x' }, 'auth.type is header, so auth.value is needed.'],
    [{ type: 'basic', username: 'x' }, 'auth.type is basic, so auth.password is needed.'],
    [
      { type: 'client-credentials', clientId: 'x' },
      'auth.type is client-credentials, so auth.tokenUrl is needed.',
    ],
  ])('says what %j lacks', async (auth, sentence) => {
    await expect(readAll(connector, { userUrl: 'http://127.0.0.1:1/', auth })).rejects.toThrow(sentence);
  });

  /** Tokens t1, t2 …; people are given for the tokens that `accepts` names. */
  const oauth = (accepts: (token: string, page: number) => boolean, expires = 3_600) => {
    let tokens = 0;
    return servePeople((url, request) => {
      if (url.pathname === '/token') {
        tokens += 1;
        return Response.json({ access_token: `t${tokens}`, token_type: 'Bearer', expires_in: expires });
      }
      const page = Number(url.searchParams.get('page'));
      const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
      if (!accepts(token, page)) return Response.json({ error: 'invalid_token' }, { status: 401 });
      return Response.json(makePeople(page * 10, page < 4 ? 10 : 0));
    });
  };
  const client = (origin: string, over: object = {}) => ({
    userUrl: `${origin}/people`,
    paging: { style: 'page' },
    auth: {
      type: 'client-credentials',
      tokenUrl: `${origin}/token`,
      clientId: 'me & you',
      clientSecret: 'sec:ret+',
      scope: 'people.read',
      ...over,
    },
  });
  const tokensAsked = (api: ReturnType<typeof oauth>) => api.requests.filter(({ path }) => path === '/token');

  test('fetches one token for a run, with the secret in the header or in the form', async () => {
    using api = oauth(() => true);
    expect(await readAll(connector, client(api.origin))).toHaveLength(30);
    const [asked, ...more] = tokensAsked(api);
    expect(more).toEqual([]);
    expect(asked?.headers.get('authorization')).toBe(`Basic ${btoa('me+%26+you:sec%3Aret%2B')}`);
    expect(asked?.body).toBe('grant_type=client_credentials&scope=people.read');
    await readAll(connector, client(api.origin, { sendSecretAs: 'body', scope: undefined }));
    const form = tokensAsked(api).at(-1);
    expect(form?.headers.get('authorization')).toBeNull();
    expect(form?.body).toBe('grant_type=client_credentials&client_id=me+%26+you&client_secret=sec%3Aret%2B');
  });

  test('renews a token that is refused in the middle, once', async () => {
    using api = oauth((token, page) => token === (page < 3 ? 't1' : 't2'));
    expect(await readAll(connector, client(api.origin))).toHaveLength(30);
    expect(tokensAsked(api)).toHaveLength(2);
    using never = oauth(() => false);
    await expect(readAll(connector, client(never.origin))).rejects.toThrow('refuses the credentials (401)');
    expect(tokensAsked(never)).toHaveLength(2);
  });

  test('renews a token that is about to expire', async () => {
    using api = oauth(() => true, 10);
    await readAll(connector, client(api.origin));
    expect(tokensAsked(api)).toHaveLength(4);
  });

  test('says that the client credentials are refused, without the secret that the server repeats', async () => {
    using api = servePeople(() =>
      Response.json(
        { error: 'invalid_client', error_description: 'Bad secret sec:ret+\u0007 here.' },
        { status: 400 },
      ),
    );
    const failed = await readAll(connector, client(api.origin)).then(String, (error: Error) => error.message);
    expect(failed).toBe(
      `${api.origin} refuses the client credentials (400). Check clientId, clientSecret and scope. It says: Bad secret … here.`,
    );
  });

  test('says that an answer holds no token', async () => {
    using api = servePeople(() => Response.json({ access_token: 'with\nline' }));
    await expect(readAll(connector, client(api.origin))).rejects.toThrow(
      'answers without a token (access_token).',
    );
  });
});

describe('http-json, a source in trouble', () => {
  /** Fails `times` times with `status`, then gives one person. */
  const failing = (times: number, status: number, headers: Record<string, string> = { 'retry-after': '0' }) =>
    servePeople((_, __, number) =>
      number < times ? new Response('busy', { status, headers }) : Response.json([{ id: 1 }]),
    );

  test.each([408, 429, 500, 502, 503, 504])('asks again after %i', async (status) => {
    using api = failing(5, status);
    expect(await readAll(connector, { userUrl: api.origin })).toHaveLength(1);
    expect(api.requests).toHaveLength(6);
  });

  test('waits by itself when the server does not say how long', async () => {
    using api = failing(1, 503, {});
    expect(await readAll(connector, { userUrl: api.origin })).toHaveLength(1);
  });

  test('takes a date for the time to wait until', async () => {
    const now = () => new Date('2026-05-01T12:00:00Z');
    using api = failing(1, 429, { 'retry-after': 'Fri, 01 May 2026 12:00:00 GMT' });
    expect(await readAll(connector, { userUrl: api.origin }, { now })).toHaveLength(1);
    using late = failing(1, 429, { 'retry-after': 'Fri, 01 May 2026 14:00:00 GMT' });
    const reading = readAll(connector, { userUrl: late.origin }, { now });
    await expect(reading).rejects.toThrow(
      'wants no further request for 120 minutes. Let the connector run then.',
    );
  });

  test('gives up after six attempts', async () => {
    using api = failing(6, 500);
    await expect(readAll(connector, { userUrl: `${api.origin}/p?key=k` })).rejects.toThrow(
      `${api.origin} answers /p with status 500.`,
    );
  });

  test.each([
    [401, 'refuses the credentials (401)'],
    [403, 'does not let these credentials read /p (403)'],
    [404, 'has nothing at /p (404). Check the address. It says: Nobody here.'],
    [400, 'answers /p with status 400. It says: Nobody here'],
  ])('does not ask again after %i', async (status, sentence) => {
    using api = servePeople(() => Response.json({ message: 'Nobody\nhere' }, { status }));
    const reading = readAll(connector, { userUrl: `${api.origin}/p?key=secret-key` });
    const failed = await reading.then(String, (error: Error) => error.message);
    expect(failed).toContain(sentence);
    expect(failed).not.toContain('secret-key');
    expect(api.requests).toHaveLength(1);
  });

  test('says that an answer is not JSON, not UTF-8, or not whole', async () => {
    const read = async (response: () => Response) => {
      using api = servePeople(response);
      return await readAll(connector, { userUrl: api.origin }).then(String, (error: Error) => error.message);
    };
    expect(
      await read(() => new Response('<html>', { headers: { 'content-type': 'text/html; charset=x' } })),
    ).toContain('something that is not JSON (text/html)');
    expect(await read(() => new Response('[{"id":1}', {}))).toContain('not JSON');
    expect(await read(() => new Response(Uint8Array.of(91, 34, 228, 34, 93)))).toContain('other than UTF-8');
  });

  test('says that nothing listens, and that a certificate is not trusted; trusts the authority it is given', async () => {
    await expect(readAll(connector, { userUrl: 'http://127.0.0.1:1/' })).rejects.toThrow(
      'nothing listens there',
    );
    using authority = makeAuthority();
    const { key, cert } = authority.issue('api', ['DNS:api.test']);
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: { key, cert },
      fetch: () => Response.json([{ id: 1 }]),
    });
    const hosts = { 'api.test': '127.0.0.1' };
    const userUrl = `https://api.test:${server.port}/`;
    await expect(readAll(connector, { userUrl }, { hosts })).rejects.toThrow(
      'its certificate is not trusted',
    );
    const trusting = { userUrl, caCertificate: authority.ca };
    expect(await readAll(connector, trusting, { hosts })).toHaveLength(1);
    await server.stop(true);
  });

  test.each(['people', 'ftp://a.test/', 'file:///etc/passwd'])('refuses the address %s', async (userUrl) => {
    await expect(readAll(connector, { userUrl })).rejects.toThrow('has to begin with https:// or http://');
  });

  test('stops when the run is cancelled while it waits, and while the server does', async () => {
    const controller = new AbortController();
    using busy = servePeople(() => {
      queueMicrotask(() => controller.abort(new Error('cancelled by a person')));
      return new Response('', { status: 503, headers: { 'retry-after': '200' } });
    });
    const waiting = readAll(connector, { userUrl: busy.origin }, { signal: controller.signal });
    await expect(waiting).rejects.toThrow('cancelled by a person');
    const second = new AbortController();
    using mute = servePeople(() => {
      second.abort(new Error('cancelled by a person'));
      return new Promise<Response>(() => undefined);
    });
    const asking = readAll(connector, { userUrl: mute.origin }, { signal: second.signal });
    await expect(asking).rejects.toThrow('cancelled by a person');
  });
});

describe('http-json, test', () => {
  const tryOut = async (config: object) => connector.test(await connectorContext(connector, config));

  test('reads one page and names its columns', async () => {
    using api = servePeople((url) =>
      Response.json(makePeople(Number(url.searchParams.get('page')) * 10, 10)),
    );
    expect(await tryOut({ userUrl: api.origin, paging: { style: 'page' } })).toBe(
      `${api.origin} answers; its first page holds 10 people with the columns id, name, emails.`,
    );
    expect(api.requests).toHaveLength(1);
    using empty = servePeople(() => Response.json([]));
    expect(await tryOut({ userUrl: empty.origin })).toBe(
      `${empty.origin} answers; its first page holds nobody.`,
    );
  });

  test('warns when the credentials can be read on the way', async () => {
    using api = servePeople(() => Response.json([]));
    const context = await connectorContext(connector, {
      userUrl: api.origin,
      auth: { type: 'bearer', token: 't' },
    });
    await connector.test(context);
    expect(context.lines.join()).toContain('whoever sees the network sees the credentials');
  });
});
