import { equalTo } from '../directory/query.ts';
import type { Link } from '../directory/resource-view.ts';
import type { ResourceText, Viewer } from '../directory/user-texts.ts';
import type { UsersAtOnce } from '../directory/users-at-once.ts';
import { toETag } from '../directory/version.ts';
import type { AskedAtOnce } from '../http/surface.ts';
import type { Touched } from '../requests/record.ts';
import { readFilter } from '../resource/filter-resolve.ts';
import { toId } from '../resource/resource-id.ts';
import type { Configurations } from '../settings/configuration.ts';
import type { ScimSource } from '../sources/source-store.ts';
import { listText, mediaTypeOf } from './answer.ts';
import { scimBase } from './call.ts';
import { type ListParameters, parametersOfQuery } from './list-parameters.ts';
import { countOf } from './list-query.ts';
import type { CallLog } from './request-log.ts';

const usersPath = `${scimBase}/Users`;
/** Queries that the framework would hand on letter by letter. */
const plainQuery = /^[!$-&(-;=?-~]*$/;

export interface AtOnceParts {
  readonly people: UsersAtOnce;
  readonly configurations: Configurations;
  readonly callLog: CallLog;
}

/** What is answered, and what the request log says of it. */
interface Found {
  readonly text: string;
  /** Of the one resource that is asked for; a list has none. */
  readonly tag?: string;
  readonly touched: readonly Touched[];
}

const nothing = [] as const;

/**
 * Answers what identity providers ask over and over (a user, the user of a userName, a page of users) without the
 * framework and without waiting: half of what such an answer costs otherwise. Everything else, and everything that is
 * refused, goes the ordinary way: whatever is not surely the same there is left to it (docs/adr/0013).
 */
export class AtOnce {
  readonly #parts: AtOnceParts;

  constructor(parts: AtOnceParts) {
    this.#parts = parts;
  }

  answer(asked: AskedAtOnce): Response | undefined {
    const { request, facts, principal } = asked;
    if (request.method !== 'GET' || !facts.path.startsWith(usersPath)) return undefined;
    if (principal.kind !== 'source' || principal.source.kind !== 'scim') return undefined;
    // What such a source sees depends on more than the user.
    if (principal.source.settings.scope !== 'all') return undefined;
    const startedMs = performance.now();
    const configuration = this.#parts.configurations.keptAt(principal.configurationVersion);
    const { source } = principal;
    const found = configuration && attempt(() => this.#find(asked, source, configuration));
    if (found === undefined) return undefined;
    const response = toResponse(asked, found);
    this.#parts.callLog.readAtOnce({
      source,
      facts,
      query: asked.query.slice(1),
      touched: found.touched,
      durationMs: performance.now() - startedMs,
    });
    return response;
  }

  #find(
    { request, facts, query }: AskedAtOnce,
    source: ScimSource,
    configuration: Viewer['configuration'],
  ): Found | undefined {
    const viewer = { sourceId: source.id, configuration };
    const base = facts.baseUrl + scimBase;
    const link: Link = (resourceType, id) => `${base}/${resourceType}s/${id}`;
    if (facts.path.length === usersPath.length)
      return plainQuery.test(query) ? this.#list(viewer, link, { query, source }) : undefined;
    if (query !== '' || request.headers.get('if-none-match') !== null) return undefined;
    return this.#user(viewer, link, facts.path.slice(usersPath.length));
  }

  /** `rest`: the path behind /Users. */
  #user(viewer: Viewer, link: Link, rest: string): Found | undefined {
    const id = rest.startsWith('/') ? toId(rest.slice(1)) : 0;
    const user = id === 0 ? undefined : this.#parts.people.get(viewer, link, id);
    if (user === undefined) return undefined;
    const tag = toETag(user.version, viewer.configuration.shownVersion);
    return { text: user.text, tag, touched: [{ resourceType: 'User', resourceId: id }] };
  }

  #list(
    viewer: Viewer,
    link: Link,
    { query, source }: { readonly query: string; readonly source: ScimSource },
  ): Found | undefined {
    const parameters = plainParameters(query);
    if (parameters === undefined) return undefined;
    const startIndex = Math.max(1, parameters.startIndex ?? 1);
    const count = countOf(viewer.configuration.settings, parameters);
    const filter = parameters.filter?.trim() ?? '';
    if (count === 0) return undefined;
    if (filter === '') {
      const page = this.#parts.people.page(viewer, link, { startIndex, count });
      return page && toList(page.totalResults, startIndex, page.texts);
    }
    const key = userNameKey(viewer, filter, source.settings.dialect === 'compat');
    if (key === undefined || startIndex > 1) return undefined;
    const users = this.#parts.people.byName(viewer, link, key);
    return users && toList(users.length, startIndex, users);
  }
}

function toList(totalResults: number, startIndex: number, users: readonly ResourceText[]): Found {
  const resources = users.map(({ text }) => text);
  return { text: listText({ totalResults, startIndex, resources }), touched: nothing };
}

/** Undefined for parameters that ask for another order, projection or place. */
function plainParameters(query: string): ListParameters | undefined {
  const parameters = parametersOfQuery(new URLSearchParams(query));
  const { attributes, excludedAttributes, sortBy, sortOrder, cursor } = parameters;
  const isPlain = (attributes ?? excludedAttributes ?? sortBy ?? sortOrder ?? cursor) === undefined;
  return isPlain ? parameters : undefined;
}

/** The key of the userName that the filter demands, when it demands nothing else and nothing in it had to be mended. */
function userNameKey({ configuration }: Viewer, text: string, isCompat: boolean): string | undefined {
  const options = { unquotedValues: isCompat, bareExtensionNames: isCompat };
  const read = readFilter(configuration.userType, text, options);
  if (read.unquotedValues.length > 0 || read.bareNames.length > 0) return undefined;
  return equalTo(read.filter, 'userName')?.key;
}

/** What fails is tried again in the ordinary way, which knows how to say so. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function toResponse({ request, headers }: AskedAtOnce, { text, tag }: Found): Response {
  const contentType = mediaTypeOf(request.headers.get('accept'));
  const init =
    tag === undefined
      ? { 'content-type': contentType, ...headers }
      : { 'content-type': contentType, etag: tag, ...headers };
  return new Response(text, { headers: init });
}
