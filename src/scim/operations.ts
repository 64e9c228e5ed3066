import type { ErrorKind } from '../errors.ts';
import {
  content,
  type Headers,
  header,
  type Operation,
  type Parameter,
  parameterRef,
  type Responses,
  refusals,
} from '../http/operation.ts';
import type { ResourceTypeName } from '../resource/schema.ts';
import { toErrorResponse } from './errors.ts';

const scimJson = 'application/scim+json';
const mediaTypes = [scimJson, 'application/json'];

/** Said before the surface has seen the request, and so without regard to Accept. */
const kindsAtGate: readonly ErrorKind[] = ['unauthenticated', 'forbidden', 'misdirected', 'limitExceeded'];
const kindsOfAll: readonly ErrorKind[] = [...kindsAtGate, 'invalidSyntax', 'unavailable', 'internal'];
const kindsOfChange: readonly ErrorKind[] = ['storageFull'];
const kindsOfBody: readonly ErrorKind[] = [
  ...kindsOfChange,
  'invalidSyntax',
  'invalidValue',
  'tooMany',
  'uniqueness',
  'payloadTooLarge',
  'unsupportedMediaType',
];
const kindsOfPatch: readonly ErrorKind[] = ['invalidPath', 'invalidFilter', 'noTarget', 'mutability'];

interface Described {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  /** Name of the shape of the body. */
  readonly body?: string;
  readonly answers: Responses;
  /** Refusals besides those that every request can meet. */
  readonly kinds?: readonly ErrorKind[];
}

function describe({ id, tag, summary, description, parameters, body, answers, kinds = [] }: Described) {
  const refused = refusals([...kindsOfAll, ...kinds], {
    toResponse: toErrorResponse,
    schema: 'ScimError',
    mediaTypes: (kind) => (kindsAtGate.includes(kind) && !kinds.includes(kind) ? [scimJson] : mediaTypes),
  });
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters: [...parameters] }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: content(body, mediaTypes) } }),
    responses: { ...answers, ...refused, 431: headTooLong },
    security: [{ scimToken: [] }],
  } satisfies Operation;
}

/** Refused by the HTTP server itself, which knows nothing of SCIM. */
const headTooLong = {
  description:
    'Address and headers are longer than the server takes, about 16 KiB together; there is no body. A long filter can go to .search.',
};

function shows(schema: string, description: string, headers?: Headers) {
  return {
    description,
    content: content(schema, mediaTypes),
    ...(headers === undefined ? {} : { headers }),
  };
}

const eTag = { ETag: header('Version of the resource, as in meta.version.') };
const location = { ...eTag, Location: header('Address of the resource, as in meta.location.') };
const projection = [parameterRef('Attributes'), parameterRef('ExcludedAttributes')];
const page = [...['Filter', 'SortBy', 'SortOrder', 'StartIndex', 'Count', 'Cursor'].map(parameterRef)];
const kindsOfList: readonly ErrorKind[] = [
  'invalidFilter',
  'invalidPath',
  'invalidValue',
  'tooMany',
  'invalidCursor',
  'expiredCursor',
  'invalidCount',
];
const listed = 'A page of the list: in the order of ids, if no other is asked for.';
const one = [parameterRef('ResourceId'), ...projection];
const oneToChange = [...one, parameterRef('IfMatch'), parameterRef('IfNoneMatch')];
const notModified = { description: 'The resource has a version that If-None-Match names.', headers: eTag };
const nothing = { description: 'The resource is gone.' };

/** The six operations on one type of resource (RFC 7644 §3.3 to §3.6). */
export function resourceOperations(name: ResourceTypeName) {
  const tag = `${name}s`;
  const noun = name.toLowerCase();
  const current = shows(name, `The ${noun} as it is now.`, eTag);
  const changed: Responses =
    name === 'User' ? { 200: current } : { 200: current, 204: { ...tooLargeToShow, headers: eTag } };
  return {
    list: describe({
      id: `list${tag}`,
      tag,
      summary: `List or find ${noun}s`,
      ...(name === 'Group' ? { description: 'Members are shown when `attributes` names them.' } : {}),
      parameters: [...page, ...projection],
      answers: { 200: shows(`${name}List`, listed) },
      kinds: kindsOfList,
    }),
    create: describe({
      id: `create${name}`,
      tag,
      summary: `Create a ${noun}`,
      description: `A ${noun} that is there already is taken over, shown or refused, as the source is set.`,
      parameters: projection,
      body: `${name}Request`,
      answers: {
        200: shows(name, `The ${noun} that was there already.`, location),
        201: shows(name, `The ${noun} that was created.`, location),
      },
      kinds: kindsOfBody,
    }),
    get: describe({
      id: `get${name}`,
      tag,
      summary: `Get a ${noun}`,
      parameters: [...one, parameterRef('IfNoneMatch')],
      answers: { 200: current, 304: notModified },
      kinds: ['notFound'],
    }),
    replace: describe({
      id: `replace${name}`,
      tag,
      summary: `Replace what can be written of a ${noun}`,
      parameters: oneToChange,
      body: `${name}Request`,
      answers: changed,
      kinds: [...kindsOfBody, 'notFound', 'versionMismatch'],
    }),
    patch: describe({
      id: `patch${name}`,
      tag,
      summary: `Change parts of a ${noun}: all operations or none`,
      parameters: oneToChange,
      body: 'PatchOp',
      answers: changed,
      kinds: [...kindsOfBody, ...kindsOfPatch, 'notFound', 'versionMismatch'],
    }),
    delete: describe({
      id: `delete${name}`,
      tag,
      summary: name === 'User' ? 'Archive a user' : 'Delete a group',
      parameters: [parameterRef('ResourceId'), parameterRef('IfMatch'), parameterRef('IfNoneMatch')],
      answers: { 204: nothing },
      kinds: [...kindsOfChange, 'notFound', 'versionMismatch'],
    }),
  };
}

const tooLargeToShow = {
  description: 'Done. The group has too many members to be shown after every change.',
};

/** RFC 7644 §3.7. */
export const bulkOperation = describe({
  id: 'bulk',
  tag: 'Bulk',
  summary: 'Do many operations in one request',
  description: [
    'Each operation is done as its single request would be, or not at all, and answered with a status of its own.',
    'A new resource is referred to by "bulkId:" and its bulkId, in members and manager and in paths, wherever it stands',
    'in the request. Every operation counts against the rate of the source; none is refused for it.',
  ].join(' '),
  body: 'BulkRequest',
  answers: { 200: shows('BulkResponse', 'What came of the operations that were done.') },
  kinds: ['storageFull', 'invalidSyntax', 'invalidValue', 'payloadTooLarge', 'unsupportedMediaType'],
});

const listAll = {
  id: 'listAll',
  tag: 'Search',
  summary: 'List or find users and groups',
  description:
    'A type that does not know an attribute of the filter has no matches; members are shown when `attributes` names them.',
  parameters: [...page, ...projection],
  answers: { 200: shows('ResourceList', `${listed} Users stand before groups.`) },
  kinds: kindsOfList,
} as const;

/** RFC 7644 §3.4.2.1. */
export const listAllOperation = describe(listAll);

function searching(id: string, tag: string, summary: string, schema: string) {
  return describe({
    id,
    tag,
    summary,
    description: 'As the list, with its parameters in the body, where no log of addresses has them.',
    body: 'SearchRequest',
    answers: { 200: shows(schema, listed) },
    kinds: [...kindsOfList, 'invalidSyntax', 'payloadTooLarge', 'unsupportedMediaType'],
  });
}

/** RFC 7644 §3.4.3. */
export const searchOperations = {
  all: searching('searchAll', 'Search', 'Search users and groups', 'ResourceList'),
  users: searching('searchUsers', 'Users', 'Search users', 'UserList'),
  groups: searching('searchGroups', 'Groups', 'Search groups', 'GroupList'),
};

function described(id: string, summary: string, schema: string, parameters: readonly Parameter[] = []) {
  return describe({
    id,
    tag: 'Discovery',
    summary,
    parameters,
    answers: { 200: shows(schema, 'As the service is configured now.') },
    kinds: parameters.length > 0 ? ['forbidden', 'notFound'] : ['forbidden'],
  });
}

function nameParameter(name: string, description: string): Parameter {
  return { name, in: 'path', required: true, description, schema: { type: 'string' } };
}

/** RFC 7644 §4. */
export const discoveryOperations = {
  serviceProviderConfig: described(
    'getServiceProviderConfig',
    'What the service can do',
    'ServiceProviderConfig',
  ),
  resourceTypes: described('listResourceTypes', 'List the types of resources', 'ResourceTypeList'),
  resourceType: described('getResourceType', 'Get a type of resources', 'ResourceType', [
    nameParameter('name', 'User or Group.'),
  ]),
  schemas: described('listSchemas', 'List the schemas', 'SchemaList'),
  schema: described('getSchema', 'Get a schema', 'Schema', [
    nameParameter('urn', 'URN of the schema; letter case is ignored.'),
  ]),
};
