// An HTTP server for one test that gives people as the test says, and remembers what it was asked.

export interface PeopleApi extends Disposable {
  readonly origin: string;
  readonly requests: readonly { readonly path: string; readonly headers: Headers; readonly body: string }[];
}

export type Respond = (url: URL, request: Request, number: number) => Response | Promise<Response>;

/** `number` counts requests from 0. */
export function servePeople(respond: Respond): PeopleApi {
  const requests: { readonly path: string; readonly headers: Headers; readonly body: string }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url);
      requests.push({
        path: url.pathname + url.search,
        headers: request.headers,
        body: await request.text(),
      });
      return respond(url, request, requests.length - 1);
    },
  });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    requests,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** `count` people from the number `from` on. */
export function makePeople(from: number, count: number): readonly Readonly<Record<string, unknown>>[] {
  return Array.from({ length: Math.max(0, count) }, (_, at) => ({
    id: from + at,
    name: { first: 'Ann', last: `Number ${from + at}` },
    emails: [{ type: 'work', value: `a${from + at}@example.com` }],
  }));
}
