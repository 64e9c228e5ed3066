import { Type } from '@sinclair/typebox';
import type { ErrorKind } from '../errors.ts';
import {
  type Components,
  content,
  type Headers,
  header,
  type Operation,
  type Parameter,
  refusals,
} from '../http/operation.ts';
import { applyPhases, countNames, type IssueCode, type RunOrigin, runStatuses } from '../imports/imports.ts';
import type { Receipt } from '../imports/intake.ts';
import type { ImportRun } from '../imports/runs.ts';
import { toErrorResponse } from './errors.ts';

const json = ['application/json'];
const tags = ['Upload'];
const security = [{ sourceKey: [] }];
const kindsOfAll: readonly ErrorKind[] = [
  'unauthenticated',
  'forbidden',
  'misdirected',
  'limitExceeded',
  'unavailable',
  'internal',
];

function refused(...kinds: readonly ErrorKind[]) {
  return refusals([...kindsOfAll, ...kinds], {
    toResponse: toErrorResponse,
    schema: 'UploadError',
    mediaTypes: () => json,
  });
}

const sourceId: Parameter = {
  name: 'sourceId',
  in: 'path',
  required: true,
  description: 'Identifier of the general source.',
  schema: { type: 'string' },
};
const location: Headers = { Location: header('Path of the import run.') };

export const uploadOperation: Operation = {
  operationId: 'uploadDocument',
  tags,
  summary: 'Send a profile document',
  description: 'The document is checked whole before the answer; what becomes of it is asked of its import.',
  parameters: [
    sourceId,
    {
      name: 'force',
      in: 'query',
      description: 'Whether a document is imported again that is the same as the last one.',
      schema: { type: 'boolean', default: false },
    },
    {
      name: 'Content-Encoding',
      in: 'header',
      schema: { type: 'string', enum: ['identity', 'gzip', 'x-gzip', 'zstd'] },
    },
  ],
  requestBody: {
    required: true,
    description: 'The document, as /schemas/profile-sync.xsd has it; in a form, its one file under any name.',
    content: {
      'application/xml': {},
      'text/xml': {},
      'application/octet-stream': {},
      'multipart/form-data': { schema: { type: 'object', minProperties: 1 } },
    },
  },
  responses: {
    200: {
      description: 'The last completed import had the same document; nothing is done.',
      headers: location,
      content: content('Receipt', json),
    },
    202: {
      description: 'The document is kept, and its import is queued.',
      headers: location,
      content: content('Receipt', json),
    },
    ...refused('invalidValue', 'payloadTooLarge', 'unsupportedMediaType', 'storageFull'),
  },
  security,
};

const importId: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'importId of the receipt.',
  schema: { type: 'string' },
};

export const importOperation: Operation = {
  operationId: 'getImport',
  tags,
  summary: 'What is known of an import',
  parameters: [sourceId, importId],
  responses: {
    200: { description: 'The import, with its first issues.', content: content('Import', json) },
    ...refused('notFound'),
  },
  security,
};

export const logOperation: Operation = {
  operationId: 'getImportLog',
  tags,
  summary: 'The log of an import',
  parameters: [sourceId, importId],
  responses: {
    200: {
      description:
        'Options in force, plan, guard, decisions, phases with their times, warnings, and the first 1,000 issues.',
      content: { 'text/plain': {} },
    },
    ...refused('notFound'),
  },
  security,
};

/** The shapes of the upload surface. */
export function uploadComponents(): Components {
  return {
    schemas: { Receipt: receipt, Import: importRun, UploadError: uploadError },
    securitySchemes: {
      sourceKey: {
        type: 'apiKey',
        in: 'header',
        name: 'X-ApiKey',
        description: 'The Authorisation Token of the general source.',
      },
    },
  };
}

const amount = Type.Integer({ minimum: 0 });
const time = Type.String({ format: 'date-time' });
const status = oneOf(runStatuses);
const counts = Type.Object(Object.fromEntries(countNames.map((name) => [name, amount])));

/** Lists that are types elsewhere, as values; the compiler sees to it that each is whole. */
export const issueCodes = namesOf<IssueCode>({
  invalidRecord: true,
  duplicateRecord: true,
  ambiguousMatch: true,
  uniqueness: true,
  unknownGroup: true,
  passwordRefused: true,
  managerNotFound: true,
  managerAmbiguous: true,
  recordGone: true,
  refused: true,
});
const origins = namesOf<RunOrigin>({
  upload: true,
  cli: true,
  drop: true,
  connector: true,
  rerun: true,
  retry: true,
});

function oneOf(names: readonly string[]) {
  return Type.Unsafe<string>({ type: 'string', enum: names });
}

function namesOf<Name extends string>(names: Readonly<Record<Name, true>>): string[] {
  return Object.keys(names);
}

const receiptMembers = {
  importId: Type.Integer(),
  sourceId: Type.Integer(),
  status: oneOf([...runStatuses, 'unchanged']),
  sha256: Type.String({ description: 'Of the document, hexadecimal.' }),
  bytes: amount,
  users: Type.Integer({ minimum: 0, description: 'Records of users in the document.' }),
  groups: Type.Integer({ minimum: 0, description: 'Records of groups in the document.' }),
  willBeProcessed: Type.Boolean(),
  reason: Type.Optional(Type.String({ description: 'Why it will not be processed for now.' })),
  warnings: Type.Array(Type.String()),
} satisfies Record<keyof Receipt, unknown>;
const receipt = Type.Object(receiptMembers);

const progress = Type.Object({
  phase: oneOf(['plan', ...applyPhases]),
  done: Type.Integer({ minimum: 0, description: 'Rows of this phase that are done.' }),
  total: amount,
  rate: Type.Optional(
    Type.Number({ minimum: 0, description: 'Rows a second; absent while nobody works on it.' }),
  ),
  secondsLeft: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Until this phase is over, at that rate.' }),
  ),
});
const issue = Type.Object({
  line: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  recordId: Type.Union([Type.String(), Type.Null()]),
  code: oneOf(issueCodes),
  message: Type.String(),
});
const importMembers = {
  sourceId: Type.Integer(),
  status,
  origin: oneOf(origins),
  dryRun: Type.Boolean(),
  sha256: Type.String(),
  bytes: amount,
  users: amount,
  groups: amount,
  progress: Type.Optional(progress),
  planned: Type.Optional(counts),
  counts,
  message: Type.Optional(Type.String({ description: 'Why it waits, failed or was ended.' })),
  warnings: Type.Array(Type.String()),
  retryAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'When it is tried again after it was interrupted.' }),
  ),
  created: time,
  started: Type.Optional(time),
  finished: Type.Optional(time),
} satisfies Record<Exclude<keyof ImportRun, 'id'>, unknown>;
const importRun = Type.Object({ importId: Type.Integer(), ...importMembers, issues: Type.Array(issue) });

const problem = Type.Object({
  line: Type.Integer(),
  column: Type.Integer(),
  path: Type.String(),
  message: Type.String(),
});
/** Beside `Message` all members come together, and only with status 400. */
const uploadError = Type.Object({
  Message: Type.String(),
  ModelState: Type.Optional(Type.Object({ PlatformSyncLogicError: Type.Array(Type.String()) })),
  errors: Type.Optional(Type.Array(problem)),
  total: Type.Optional(amount),
  isTotalPartial: Type.Optional(
    Type.Boolean({ description: 'Whether there may be more problems than `total`.' }),
  ),
});
