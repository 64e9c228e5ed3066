// Microsoft Graph v1.0 as far as people and groups need it: pages by @odata.nextLink, one object, and delta queries.

import type { ConnectorContext } from '../../src/connectors/contract.ts';
import { HttpSource } from '../../src/connectors/http-source.ts';
import { DomainError } from '../../src/errors.ts';
import { cloudOf, type EntraConfig } from './entra-config.ts';

/** An object of the directory, with what was selected. */
export type GraphObject = Readonly<Record<string, unknown>> & { readonly id: string };

/** What a delta query gives: the objects that changed, and where to go on next time. */
export interface Delta {
  readonly changes: readonly GraphObject[];
  readonly deltaLink: string;
}

const pagesMax = 1_000_000;
/** More changes than these are read as a whole directory is: at once. */
export const changesMax = 20_000;

export class Graph {
  readonly #source: HttpSource;
  readonly #base: string;

  constructor(context: ConnectorContext<EntraConfig>) {
    const { tenantId, clientId, clientSecret, caCertificate } = context.config;
    const { login, graph } = cloudOf(context.config);
    const auth = {
      type: 'client-credentials',
      tokenUrl: `${login}/${tenantId}/oauth2/v2.0/token`,
      clientId,
      clientSecret,
      scope: `${graph}/.default`,
      sendSecretAs: 'body',
    } as const;
    this.#base = `${graph}/v1.0`;
    this.#source = new HttpSource({ context, base: graph, auth, caCertificate });
  }

  /** All objects of a collection: `/users` with its query. */
  async *list(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
  ): AsyncGenerator<GraphObject> {
    for await (const { value } of this.#pages(this.#url(path, query))) yield* value;
  }

  /** One object, or undefined when there is none of that id any more. */
  async find(
    path: string,
    query: Readonly<Record<string, string | undefined>>,
  ): Promise<GraphObject | undefined> {
    try {
      const { body } = await this.#source.get(this.#url(path, query));
      return toObject(body, path);
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'notFound') return undefined;
      throw error;
    }
  }

  /** The link by which a later delta query tells what has changed since now, without reading anything. */
  async latestDeltaLink(path: string, select: string): Promise<string> {
    const url = this.#url(`${path}/delta`, { $deltatoken: 'latest', $select: select });
    let link: string | undefined;
    for await (const { deltaLink } of this.#pages(url)) link = deltaLink;
    return requireDeltaLink(link);
  }

  /** What changed since the link was given; undefined when it is too old, or when more changed than `changesMax`. */
  async changesSince(deltaLink: string): Promise<Delta | undefined> {
    const changes: GraphObject[] = [];
    let link: string | undefined;
    try {
      for await (const page of this.#pages(deltaLink)) {
        changes.push(...page.value);
        link = page.deltaLink;
        if (changes.length > changesMax) return undefined;
      }
    } catch (error) {
      if (isOutdated(error)) return undefined;
      throw error;
    }
    return { changes, deltaLink: requireDeltaLink(link) };
  }

  #url(path: string, query: Readonly<Record<string, string | undefined>>): string {
    const url = new URL(this.#base + path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, value);
    return url.href;
  }

  async *#pages(first: string): AsyncGenerator<GraphPage> {
    const links = new Set<string>();
    let url: string | undefined = first;
    for (let page = 0; url !== undefined; page++) {
      if (links.has(url) || page >= pagesMax) throw badAnswer('the same page twice');
      links.add(url);
      const found = toPage((await this.#source.get(url)).body);
      yield found;
      url = found.nextLink;
    }
  }
}

interface GraphPage {
  readonly value: readonly GraphObject[];
  readonly nextLink: string | undefined;
  readonly deltaLink: string | undefined;
}

function toPage(body: unknown): GraphPage {
  const page = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(page.value)) throw badAnswer('something that is no list');
  return {
    value: page.value.map((each) => toObject(each, 'a list')),
    nextLink: textOf(page['@odata.nextLink']),
    deltaLink: textOf(page['@odata.deltaLink']),
  };
}

function toObject(body: unknown, where: string): GraphObject {
  if (typeof (body as { readonly id?: unknown } | null)?.id === 'string') return body as GraphObject;
  throw badAnswer(`an object without an id in ${where}`);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** 410 Gone, and 400 with syncStateNotFound; a link of another cloud is one of another time. */
function isOutdated(error: unknown): boolean {
  return error instanceof DomainError && ['notFound', 'invalidValue', 'forbidden'].includes(error.kind);
}

function requireDeltaLink(link: string | undefined): string {
  if (link === undefined) throw badAnswer('no @odata.deltaLink at the end of a delta query');
  return link;
}

function badAnswer(what: string): DomainError {
  return new DomainError('unavailable', `Graph answers with ${what}. Check cloud and graphUrl.`);
}
