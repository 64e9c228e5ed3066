import { equalTo } from '../directory/query.ts';
import type { Link } from '../directory/resource-view.ts';
import type { Glimpse } from '../directory/user-read-store.ts';
import type { ResourceText, Viewer } from '../directory/user-texts.ts';
import type { UsersAtOnce } from '../directory/users-at-once.ts';
import { toETag } from '../directory/version.ts';
import type { AskedAtOnce, Recognised } from '../http/surface.ts';
import type { Touched } from '../requests/record.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { readFilter } from '../resource/filter-resolve.ts';
import { toId } from '../resource/resource-id.ts';
import type { Configurations } from '../settings/configuration.ts';
import type { ScimSource } from '../sources/source-store.ts';
import type { Sources } from '../sources/sources.ts';
import { listText, mediaTypeOf } from './answer.ts';
import { scimBase } from './call.ts';
import { type ListParameters, parametersOfQuery } from './list-parameters.ts';
import { countOf } from './list-query.ts';
import type { CallLog } from './request-log.ts';

const usersPath = `${scimBase}/Users`;
/** Queries that the framework would hand on letter by letter. */
const plainQuery = /^[!$-&(-;=?-~]*$/;
/** As nearly every client asks for a userName: nothing in it that a reader of filters could take otherwise. */
const plainNameQuery = /^\?filter=userName(?:%20|\+)eq(?:%20|\+)%22((?:[\w.@-]|%40){1,200})%22$/;

export interface AtOnceParts {
  readonly people: UsersAtOnce;
  readonly sources: Sources;
  readonly configurations: Configurations;
  readonly callLog: CallLog;
}

/** What is asked, and what there is of the users whom it names. */
type Question =
  | { readonly kind: 'user'; readonly id: number; readonly seen: readonly Glimpse[] }
  | { readonly kind: 'userName'; readonly seen: readonly Glimpse[] }
  | { readonly kind: 'page'; readonly parameters: ListParameters };

/** What is answered, and what the request log says of it. */
interface Found {
  readonly text: string;
  /** Entity tag of the one resource that is asked for; a list has none. */
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

  /** Knows the caller by a token that was shown before. What is asked is looked up with the caller, in one statement. */
  recognise(asked: AskedAtOnce, token: string): Recognised | undefined {
    let asking: Question | undefined;
    const known = this.#parts.sources.recogniseScim(token, (sourceId) => {
      asking = attempt(() => this.#questionOf(asked, sourceId));
      return asking && versionSeenIn(asking);
    });
    if (known === undefined) return undefined;
    const question = asking;
    const { source } = known;
    const principal = { kind: 'source', ...known } as const;
    // What a source sees that does not see everything depends on more than the user.
    if (question === undefined || source.settings.scope !== 'all') return { principal };
    const configuration = this.#parts.configurations.keptAt(known.configurationVersion);
    if (configuration === undefined) return { principal };
    return {
      principal,
      answer: (headers) => this.#answer(asked, { question, source, configuration }, headers),
    };
  }

  #answer(
    asked: AskedAtOnce,
    call: CallAtOnce,
    headers: Readonly<Record<string, string>>,
  ): Response | undefined {
    const startedMs = performance.now();
    const found = attempt(() => this.#find(asked, call));
    if (found === undefined) return undefined;
    const response = toResponse(asked.request, found, headers);
    this.#parts.callLog.readAtOnce({
      source: call.source,
      facts: asked.facts,
      query: asked.query.slice(1),
      touched: found.touched,
      durationMs: performance.now() - startedMs,
    });
    return response;
  }

  /** `sourceId`: whose the token was the last time, and so whose externalIds are read with what is asked. */
  #questionOf({ request, facts: { path }, query }: AskedAtOnce, sourceId: number): Question | undefined {
    if (request.method !== 'GET' || !path.startsWith(usersPath)) return undefined;
    if (path.length === usersPath.length)
      return plainQuery.test(query) ? this.#listOf(query, sourceId) : undefined;
    if (query !== '' || request.headers.get('if-none-match') !== null) return undefined;
    const rest = path.slice(usersPath.length);
    const id = rest.startsWith('/') ? toId(rest.slice(1)) : 0;
    const seen = id === 0 ? undefined : this.#parts.people.glimpse(id, sourceId);
    return seen && { kind: 'user', id, seen };
  }

  #listOf(query: string, sourceId: number): Question | undefined {
    const name = plainNameQuery.exec(query)?.[1];
    if (name !== undefined) return this.#named(canonicalKey(name.replaceAll('%40', '@')), sourceId);
    const parameters = plainParameters(query);
    if (parameters === undefined || parameters.count === 0) return undefined;
    const filter = parameters.filter?.trim() ?? '';
    if (filter === '') return { kind: 'page', parameters };
    const key = this.#userNameKey(filter);
    if (key === undefined || (parameters.startIndex ?? 1) > 1) return undefined;
    return this.#named(key, sourceId);
  }

  #named(key: string, sourceId: number): Question | undefined {
    const seen = this.#parts.people.glimpseByName(key, sourceId);
    return seen && { kind: 'userName', seen };
  }

  /** Of a filter that demands one userName and nothing else, and needs no repair. */
  #userNameKey(text: string): string | undefined {
    const { latest } = this.#parts.configurations;
    return latest && equalTo(readFilter(latest.userType, text).filter, 'userName')?.key;
  }

  #find({ facts }: AskedAtOnce, { question, source, configuration }: CallAtOnce): Found | undefined {
    const { people } = this.#parts;
    const viewer = { sourceId: source.id, configuration };
    const base = facts.baseUrl + scimBase;
    const link: Link = (resourceType, id) => `${base}/${resourceType}s/${id}`;
    if (question.kind === 'page') {
      const { parameters } = question;
      const startIndex = Math.max(1, parameters.startIndex ?? 1);
      const count = countOf(configuration.settings, parameters);
      const page = count === 0 ? undefined : people.page(viewer, link, { startIndex, count });
      return page && toList(page.totalResults, startIndex, page.texts);
    }
    const users = people.texts(viewer, link, question.seen);
    if (question.kind === 'userName') {
      const isShown = countOf(configuration.settings, {}) > 0;
      return users && isShown ? toList(users.length, 1, users) : undefined;
    }
    const user = users?.[0];
    if (user === undefined) return undefined;
    const tag = toETag(user.version, configuration.shownVersion);
    return { text: user.text, tag, touched: [{ resourceType: 'User', resourceId: question.id }] };
  }
}

interface CallAtOnce {
  readonly question: Question;
  readonly source: ScimSource;
  readonly configuration: Viewer['configuration'];
}

/** As it was at the moment at which the users were seen; undefined when none was. */
function versionSeenIn(question: Question): string | undefined {
  const seen = question.kind === 'page' ? undefined : question.seen[0];
  return seen && (seen.configuration_version ?? '0');
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

/** What fails is tried again in the ordinary way, which knows how to say so. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function toResponse(
  request: Request,
  { text, tag }: Found,
  headers: Readonly<Record<string, string>>,
): Response {
  const contentType = mediaTypeOf(request.headers.get('accept'));
  const init =
    tag === undefined
      ? { 'content-type': contentType, ...headers }
      : { 'content-type': contentType, etag: tag, ...headers };
  return new Response(text, { headers: init });
}
