import type { TObject, TSchema } from '@sinclair/typebox';
import { t } from 'elysia';
import type { ErrorKind } from '../errors.ts';
import {
  type Components,
  content,
  header,
  type Operation,
  type Parameter,
  type Responses,
  refusals,
} from '../http/operation.ts';
import {
  changeSettingsRequest,
  fieldListView,
  fieldView,
  newFieldRequest,
  newPersonaRequest,
  personaListView,
  personaView,
  settingsView,
  triedView,
  tryPasswordRequest,
  tryPatternRequest,
} from './configuration-model.ts';
import { toErrorResponse } from './errors.ts';
import {
  comparisonView,
  importListView,
  importView,
  issueListView,
  recordListView,
  reEnabledView,
  repeatRequest,
} from './import-model.ts';
import {
  acceptRequest,
  accountView,
  emptyRequest,
  invitationRequest,
  invitationView,
  meView,
  signInRequest,
} from './model.ts';
import {
  auditView,
  groupListView,
  groupView,
  historyView,
  personListView,
  personView,
  requestListView,
} from './people-model.ts';
import {
  changeSourceRequest,
  createdSourceView,
  newSourceRequest,
  newTokenRequest,
  shownTokenView,
  sourceDetailView,
  sourceView,
} from './source-model.ts';

const json = ['application/json'];
const kindsOfAll: readonly ErrorKind[] = [
  'forbidden',
  'misdirected',
  'unavailable',
  'internal',
  'unauthenticated',
];
const kindsOfBody: readonly ErrorKind[] = [
  'invalidSyntax',
  'invalidValue',
  'payloadTooLarge',
  'unsupportedMediaType',
];

const schemas = {
  InvitationRequest: invitationRequest,
  AcceptRequest: acceptRequest,
  SignInRequest: signInRequest,
  EmptyRequest: emptyRequest,
  Invitation: invitationView,
  Account: accountView,
  Me: meView,
  SourceList: t.Object({ sources: t.Array(sourceView) }),
  Source: sourceDetailView,
  NewSourceRequest: newSourceRequest,
  ChangeSourceRequest: changeSourceRequest,
  CreatedSource: createdSourceView,
  NewTokenRequest: newTokenRequest,
  ShownToken: shownTokenView,
  ImportRunList: importListView,
  ImportRun: importView,
  ImportRunIssues: issueListView,
  ImportRunRecords: recordListView,
  ImportRunComparison: comparisonView,
  ReEnabled: reEnabledView,
  RepeatRequest: repeatRequest,
  ImportRunLog: t.Object({ log: t.String() }),
  PersonList: personListView,
  Person: personView,
  GroupListing: groupListView,
  GroupDetail: groupView,
  History: historyView,
  RequestList: requestListView,
  AuditLog: auditView,
  Settings: settingsView,
  ChangeSettingsRequest: changeSettingsRequest,
  TryPasswordRequest: tryPasswordRequest,
  TryPatternRequest: tryPatternRequest,
  Tried: triedView,
  FieldList: fieldListView,
  Field: fieldView,
  NewFieldRequest: newFieldRequest,
  PersonaList: personaListView,
  Persona: personaView,
  NewPersonaRequest: newPersonaRequest,
  AdminError: t.Object({ message: t.String() }),
} satisfies Record<string, TSchema>;
type SchemaName = keyof typeof schemas;

interface Described {
  readonly id: string;
  readonly summary: string;
  readonly body?: SchemaName;
  /** What stands in the path, and behind its question mark. */
  readonly params?: TObject;
  readonly query?: TObject;
  readonly answers: Responses;
  readonly kinds?: readonly ErrorKind[];
  /** Whether it can be asked without a session. */
  readonly isOpen?: boolean;
}

const ownScript: Parameter = {
  name: 'X-Rollcall',
  in: 'header',
  required: true,
  description: 'Shows that no form of another site sends the request.',
  schema: { type: 'string', enum: ['1'] },
};

/** What is published of a route of the admin API. */
export function describe(described: Described): Operation {
  const { id, summary, body, params, query, answers, kinds = [], isOpen } = described;
  const isChange = body !== undefined;
  const parameters = [
    ...(isChange ? [ownScript] : []),
    ...parametersOf('path', params),
    ...parametersOf('query', query),
  ];
  const ofParameters = params === undefined && query === undefined ? [] : (['invalidValue'] as const);
  const all = [...kindsOfAll, ...(isChange ? kindsOfBody : []), ...ofParameters, ...kinds];
  return {
    operationId: id,
    tags: ['Administration'],
    summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(isChange ? { requestBody: { required: true, content: content(body, json) } } : {}),
    responses: { ...answers, ...refused(all) },
    security: isOpen === true ? [] : [{ session: [] }, { sessionOnMachine: [] }],
  };
}

function refused(kinds: readonly ErrorKind[]): Responses {
  return refusals(kinds, { toResponse: toErrorResponse, schema: 'AdminError', mediaTypes: () => json });
}

function parametersOf(place: 'path' | 'query', shape: TObject | undefined): Parameter[] {
  const { properties = {}, required = [] } = (asAnswered(shape ?? {}) ?? {}) as {
    properties?: Record<string, Record<string, unknown>>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema,
  }));
}

export function shows(schema: SchemaName, description: string) {
  return { description, content: content(schema, json) };
}

const welcome = { 'Set-Cookie': header('The cookie of the new session.') };
const farewell = { 'Set-Cookie': header('Takes the cookie of the session away.') };

export const entryOperations = {
  invitation: describe({
    id: 'getInvitation',
    summary: 'Look at an invitation',
    body: 'InvitationRequest',
    answers: { 200: shows('Invitation', 'The invitation, which is in force.') },
    isOpen: true,
  }),
  accept: describe({
    id: 'acceptInvitation',
    summary: 'Make an account with an invitation, and sign in',
    body: 'AcceptRequest',
    answers: { 201: { ...shows('Account', 'The account that was made.'), headers: welcome } },
    kinds: ['uniqueness', 'storageFull'],
    isOpen: true,
  }),
  signIn: describe({
    id: 'signIn',
    summary: 'Sign in',
    body: 'SignInRequest',
    answers: { 200: { ...shows('Account', 'The account that is signed in.'), headers: welcome } },
    kinds: ['limitExceeded', 'storageFull'],
    isOpen: true,
  }),
};

export const sessionOperations = {
  me: describe({
    id: 'getMe',
    summary: 'Who is signed in',
    answers: { 200: shows('Me', 'The account, and when its session ends if nothing more is asked.') },
  }),
  signOut: describe({
    id: 'signOut',
    summary: 'End this session',
    body: 'EmptyRequest',
    answers: { 204: { description: 'The session has ended.', headers: farewell } },
    kinds: ['storageFull'],
  }),
  signOutEverywhere: describe({
    id: 'signOutEverywhere',
    summary: 'End every session of the account',
    body: 'EmptyRequest',
    answers: { 204: { description: 'All sessions of the account have ended.', headers: farewell } },
    kinds: ['storageFull'],
  }),
};

/** A file of the console's page. */
export function fileOperation(id: string, summary: string, mediaType: string): Operation {
  return {
    operationId: id,
    tags: ['Console'],
    summary,
    responses: {
      200: { description: 'The file.', content: { [mediaType]: {} } },
      ...refused(['misdirected']),
    },
    security: [],
  };
}

/** The shapes of the admin surfaces, and the cookie by which they know who asks. */
export function adminComponents(): Components {
  const published = Object.entries(schemas).map(([name, schema]) => [name, asAnswered(schema)]);
  return {
    schemas: Object.fromEntries(published),
    securitySchemes: { session: cookie('__Host-rollcall'), sessionOnMachine: cookie('rollcall') },
  };
}

/**
 * Without what the framework adds to shapes for requests that hold numbers as texts, and without its `nullable`, which
 * is a word of OpenAPI 3.0.
 */
function asAnswered(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asAnswered);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { nullable, ...members } = schema as Record<string, unknown>;
  const { anyOf } = members;
  if (Array.isArray(anyOf) && anyOf[0]?.format === 'integer') return asAnswered(anyOf[1]);
  return Object.fromEntries(Object.entries(members).map(([name, inner]) => [name, asAnswered(inner)]));
}

function cookie(name: string) {
  const over = name.startsWith('__Host-') ? 'over HTTPS' : 'over plain HTTP on the machine itself';
  return { type: 'apiKey', in: 'cookie', name, description: `The session of an administrator, ${over}.` };
}
