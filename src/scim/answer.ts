import { matchesETag, toETag } from '../directory/version.ts';
import { withSchemas } from '../resource/normalise.ts';
import { buildProjection, type Projection, readAttributeNames } from '../resource/project.ts';
import type { ResourceType } from '../resource/schema.ts';
import type { ScimObject } from '../resource/value.ts';
import type { ScimCall } from './call.ts';
import type { ListParameters } from './list-parameters.ts';

const scimJson = 'application/scim+json';
const listResponseUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** RFC 7644 §3.1 answers in scim+json; application/json goes to a client that accepts nothing else. */
export function mediaTypeFor(request: Request): string {
  return mediaTypeOf(request.headers.get('accept'));
}

/** A weight of nothing says "not this" (RFC 9110 §12.4.2). */
const refusedForm = /;\s*q=0(?:\.0*)?\s*(?:;|$)/i;

export function mediaTypeOf(accept: string | null): string {
  if (accept === null || accept === scimJson) return scimJson;
  const accepted = accept.split(',').filter((part) => !refusedForm.test(part));
  const wanted = accepted.map((part) => part.split(';')[0]?.trim().toLowerCase());
  const isPlainJson = wanted.length > 0 && wanted.every((type) => type === 'application/json');
  return isPlainJson ? 'application/json' : scimJson;
}

export function json(request: Request, body: unknown, options = {}): Response {
  return jsonText(request, JSON.stringify(body), options);
}

function jsonText(request: Request, text: string, { status = 200, headers = {} } = {}): Response {
  return new Response(text, {
    status,
    headers: { 'content-type': mediaTypeFor(request), ...headers },
  });
}

/** The projection that `attributes` and `excludedAttributes` of the query ask for (RFC 7644 §3.9). */
export function projectionOf(call: ScimCall, resourceType: ResourceType): Projection {
  if (call.query.size === 0) return defaultProjection(resourceType);
  const attributes = readAttributeNames(call.query.get('attributes') ?? undefined);
  const excludedAttributes = readAttributeNames(call.query.get('excludedAttributes') ?? undefined);
  return projectionFor(resourceType, { attributes, excludedAttributes });
}

const defaultProjections = new WeakMap<ResourceType, Projection>();

function defaultProjection(resourceType: ResourceType): Projection {
  const known = defaultProjections.get(resourceType);
  if (known !== undefined) return known;
  const projection = buildProjection(resourceType);
  defaultProjections.set(resourceType, projection);
  return projection;
}

/** The same, for names that were read already. */
export function projectionFor(
  resourceType: ResourceType,
  { attributes, excludedAttributes }: Pick<ListParameters, 'attributes' | 'excludedAttributes'>,
  onlyWhenNamed: readonly string[] = [],
): Projection {
  return buildProjection(resourceType, {
    ...(attributes === undefined ? {} : { attributes }),
    ...(excludedAttributes === undefined ? {} : { excludedAttributes }),
    onlyWhenNamed,
  });
}

export interface Shown {
  readonly resourceType: ResourceType;
  readonly view: ScimObject;
  readonly projection: Projection;
  /** Members of a group that `view` does not have, as JSON texts with commas between them. */
  readonly members?: string;
}

/** One resource, with its entity tag (RFC 7644 §3.14). */
export function resource(
  request: Request,
  { resourceType, view, projection, members = '' }: Shown,
  status = 200,
): Response {
  const { meta } = view as { meta: { location: string; version: string } };
  const unchanged = notModified(request, meta.version);
  if (unchanged !== undefined) return unchanged;
  const location = request.method === 'POST' ? { location: meta.location } : {};
  const text = JSON.stringify(shown(resourceType, view, projection));
  const whole = members === '' ? text : `${text.slice(0, -1)},"members":[${members}]}`;
  return jsonText(request, whole, { status, headers: { etag: meta.version, ...location } });
}

/** One resource that is JSON text already. `location` is told of one that a POST made or found. */
export function resourceText(
  request: Request,
  { tag, text, location }: { readonly tag: string; readonly text: string; readonly location?: string },
  status = 200,
): Response {
  const told = request.method === 'POST' && location !== undefined ? { location } : {};
  return notModified(request, tag) ?? jsonText(request, text, { status, headers: { etag: tag, ...told } });
}

/** The entity tag of this version of a resource, as the call's configuration shows it. */
export function tagOf({ context }: ScimCall, version: number): string {
  return toETag(version, context.configuration.shownVersion);
}

/** Undefined where an answer is due. Only what reads can be told that nothing is new (RFC 9110 §13.1.2). */
export function notModified(request: Request, tag: string): Response | undefined {
  if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
  const ifNoneMatch = request.headers.get('if-none-match');
  if (ifNoneMatch === null || !matchesETag(ifNoneMatch, tag)) return undefined;
  return new Response(null, { status: 304, headers: { etag: tag } });
}

export function shown(resourceType: ResourceType, view: ScimObject, projection: Projection): ScimObject {
  return projection.apply(withSchemas(resourceType, view));
}

/** A page as it is answered. */
export interface AnsweredPage {
  /** Left out where it is not known (RFC 9865 §2.2). */
  readonly totalResults: number | undefined;
  /** Undefined where a cursor is followed. */
  readonly startIndex: number | undefined;
  readonly nextCursor?: string | undefined;
  /** Each as JSON text. */
  readonly resources: readonly string[];
}

export function list(request: Request, page: AnsweredPage): Response {
  return jsonText(request, listText(page));
}

/** JSON text of a ListResponse: RFC 7644 §3.4.2, RFC 9865 §2.2. */
export function listText(page: AnsweredPage): string {
  const { totalResults, startIndex, nextCursor, resources } = page;
  const head = JSON.stringify({
    schemas: [listResponseUrn],
    totalResults,
    startIndex,
    itemsPerPage: resources.length,
    nextCursor,
  });
  return enclosed(`${head.slice(0, -1)},"Resources":[`, resources, ']}');
}

/** With commas between them, in one piece: a page is long enough for a second copy of it to count. */
function enclosed(before: string, texts: readonly string[], after: string): string {
  const [first, ...others] = texts;
  if (first === undefined) return before + after;
  const last = others.pop();
  if (last === undefined) return before + first + after;
  return [before + first, ...others, last + after].join(',');
}

export function noContent(headers: Record<string, string> = {}): Response {
  return new Response(null, { status: 204, headers });
}
