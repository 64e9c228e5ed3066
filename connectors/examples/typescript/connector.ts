// Reads people from a JSON service that answers page by page: {"people": [{"id": 7, "login": "ann", …}], "next": 2}.
// Make it yours: the configuration, what is asked, and how a record of your source becomes a user.

import type { Connector, ConnectorContext } from '../../../src/connectors/contract.ts';

type Config = { readonly url: string; readonly token: string };
type Name = 'login' | 'first' | 'last' | 'mail';
interface Page {
  readonly people: readonly (Readonly<Record<Name, string>> & {
    readonly id: number;
    readonly left?: boolean;
  })[];
  readonly next: number | null;
}

export const connector: Connector<Config> = {
  kind: 'example',
  summary: 'Reads people from a JSON service.',
  configSchema: {
    type: 'object',
    properties: {
      url: { type: 'string', title: 'Address', description: 'Where the service lists its people.' },
      token: { type: 'string', title: 'Token', description: 'Sent as a bearer token.', writeOnly: true },
    },
    required: ['url', 'token'],
    additionalProperties: false,
  },
  async test(context) {
    const { people } = await readPage(context, 1);
    return `The service answers; its first page has ${people.length} people.`;
  },
  async *read(context) {
    for (let page: number | null = 1; page !== null; ) {
      const { people, next }: Page = await readPage(context, page);
      for (const { id, login, first, last, mail, left = false } of people)
        yield {
          kind: 'user',
          id: String(id),
          username: login,
          firstname: first,
          surname: last,
          email: mail,
          active: !left,
        };
      page = next;
    }
  },
};

async function readPage({ config, fetch }: ConnectorContext<Config>, page: number): Promise<Page> {
  const url = new URL(config.url);
  url.searchParams.set('page', String(page));
  const response = await fetch(url, { headers: { authorization: `Bearer ${config.token}` } });
  if (!response.ok)
    throw new Error(`${url.host} answers ${response.status}; check the address and the token.`);
  return (await response.json()) as Page;
}
