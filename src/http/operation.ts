import type { DocumentDecoration } from 'elysia';
import { DomainError, type ErrorKind } from '../errors.ts';

/** What is published of a route: an Operation Object (OpenAPI 3.1 §4.8.10) that refers to shapes by name. */
export type Operation = DocumentDecoration;
export type Parameter = NonNullable<Operation['parameters']>[number];
export type Responses = Record<string, ResponseDescription>;
type ResponseDescription = Extract<NonNullable<Operation['responses']>[string], { description: string }>;
type Content = NonNullable<ResponseDescription['content']>;
export type Headers = NonNullable<ResponseDescription['headers']>;

/** A JSON Schema (draft 2020-12), the dialect of OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Named parts that the operations of a surface refer to (OpenAPI 3.1 §4.8.7). */
export interface Components {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly securitySchemes?: Readonly<Record<string, JsonSchema>>;
}

export function schemaRef(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

export function parameterRef(name: string): { $ref: string } {
  return { $ref: `#/components/parameters/${name}` };
}

/** A body of one named shape, in each of the media types. */
export function content(schema: string, mediaTypes: readonly string[]): Content {
  return Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema: schemaRef(schema) }]));
}

export function header(description: string): Headers[string] {
  return { description, schema: { type: 'string' } };
}

/** How a surface says no. */
export interface Refusing {
  /** The surface's own answer to an error, of which status and headers are taken. */
  readonly toResponse: (error: DomainError) => Response;
  /** Name of the shape of its body. */
  readonly schema: string;
  readonly mediaTypes: (kind: ErrorKind) => readonly string[];
}

/** The answers to these kinds of refusal, by status. They are asked of the surface, so they cannot differ from it. */
export function refusals(
  kinds: readonly ErrorKind[],
  { toResponse, schema, mediaTypes }: Refusing,
): Responses {
  const responses: Responses = {};
  for (const kind of new Set(kinds)) {
    const { status, headers } = toResponse(new DomainError(kind, '', isPassing(kind)));
    const known = responses[status];
    const all = { ...known?.headers, ...headersOf(headers) };
    responses[status] = {
      description: known === undefined ? kindTexts[kind] : `${known.description} ${kindTexts[kind]}`,
      content: { ...known?.content, ...content(schema, mediaTypes(kind)) },
      ...(Object.keys(all).length > 0 ? { headers: all } : {}),
    };
  }
  return responses;
}

function isPassing(kind: ErrorKind): { retryAfterSeconds: number } | Record<string, never> {
  return kind === 'limitExceeded' || kind === 'unavailable' ? { retryAfterSeconds: 1 } : {};
}

const headerTexts: Readonly<Record<string, string>> = {
  'retry-after': 'Seconds after which to try again, where they are known.',
  'www-authenticate': 'The scheme by which to authenticate.',
};

function headersOf(headers: globalThis.Headers): Headers {
  const known = Object.entries(headerTexts).filter(([name]) => headers.has(name));
  return Object.fromEntries(known.map(([name, text]) => [name, header(text)]));
}

const kindTexts: Readonly<Record<ErrorKind, string>> = {
  invalidFilter: 'The filter cannot be read, or compares what cannot be compared.',
  tooMany: 'The request would look at, or change, more than one request may.',
  uniqueness: 'A value that has to be unique is taken, or the resource is there already.',
  mutability: 'The attribute cannot be changed that way.',
  invalidSyntax: 'The body cannot be read.',
  invalidPath: 'The path of an operation is not one of the resource.',
  noTarget: 'The path of an operation selects nothing.',
  invalidValue: 'A value is missing, of the wrong type or out of bounds.',
  sensitive: 'The request carries what must not stand in an address.',
  invalidCursor: 'The cursor is not one of this service.',
  expiredCursor: 'The cursor has expired.',
  invalidCount: 'The count is not one that a page can have.',
  notFound: 'There is nothing of that name or id, as far as the caller may see.',
  methodNotAllowed: 'The path has other methods.',
  notImplemented: 'The service does not do this.',
  conflict: 'It contradicts what is there, or what else the request asks for.',
  versionMismatch: 'The resource has another version than If-Match names, or one that If-None-Match names.',
  unauthenticated: 'The request does not say, or not rightly, who sends it.',
  forbidden: 'The caller may not do this, or not this way.',
  misdirected: 'The service does not answer under the host name of the request.',
  payloadTooLarge: 'The body is longer, or holds more, than one request may.',
  unsupportedMediaType: 'The body is of another type, or in another encoding, than is taken.',
  limitExceeded: 'There were too many requests; slow down.',
  unavailable: 'The service cannot do it now; try again later.',
  storageFull: 'The disk of the service is full.',
  internal: 'The service failed; its log says why.',
};
