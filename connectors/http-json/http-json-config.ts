// The configuration of the kind `http-json`.

import { type Static, Type } from '@sinclair/typebox';
import { authSchema } from '../../src/connectors/http-auth.ts';
import { mappingSchema } from '../../src/connectors/mapping-schema.ts';

const address = { minLength: 1, maxLength: 8_000 };
const path = { maxLength: 1_000 };
const parameterName = { minLength: 1, maxLength: 200 };

const pagingSchema = Type.Object(
  {
    style: Type.Unsafe<'none' | 'link-header' | 'body-link' | 'cursor' | 'page' | 'offset'>({
      type: 'string',
      enum: ['none', 'link-header', 'body-link', 'cursor', 'page', 'offset'],
      default: 'none',
      title: 'Style',
      description:
        'How the next page is found: not at all, a Link header (RFC 8288), a link or a cursor in the body, the number of a page, or the number of records to pass over.',
    }),
    next: Type.Optional(
      Type.String({
        ...path,
        title: 'Path of the next link or cursor',
        description: 'Where it stands in the body, as in links.next.',
      }),
    ),
    parameter: Type.Optional(
      Type.String({
        ...parameterName,
        title: 'Parameter',
        description:
          'Name of the query parameter for cursor, page or offset; "cursor", "page" or "offset" unless given.',
      }),
    ),
    first: Type.Integer({
      minimum: 0,
      default: 1,
      title: 'First page',
      description: 'Number of the first page.',
    }),
    sizeParameter: Type.Optional(
      Type.String({
        ...parameterName,
        title: 'Parameter of the size',
        description: 'Name of the query parameter for the size.',
      }),
    ),
    size: Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 100,
      title: 'Size',
      description: 'Records wanted in a page; sent when the parameter of the size is given.',
    }),
    total: Type.Optional(
      Type.String({
        ...path,
        title: 'Path of the total',
        description:
          'Where the body says how many records there are in all; the run fails when they do not all come.',
      }),
    ),
    pagesMax: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 10_000,
      title: 'Most pages',
      description: 'More than these are an error.',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    title: 'Pages',
    description: 'How the source gives its records in pages.',
  },
);

export const configSchema = Type.Object(
  {
    userUrl: Type.String({
      ...address,
      title: 'Address of people',
      description: 'Where the first page of people is, query included.',
    }),
    userRecords: Type.String({
      ...path,
      default: '$',
      title: 'Path of people',
      description:
        'Where the list of people stands in the body, as in data.items or data[*].attributes; $ is the body itself.',
    }),
    groupUrl: Type.Optional(
      Type.String({
        ...address,
        title: 'Address of groups',
        description: 'Where the first page of groups is, of the same server.',
      }),
    ),
    groupRecords: Type.String({
      ...path,
      default: '$',
      title: 'Path of groups',
      description: 'Where the list of groups stands in the body.',
    }),
    auth: authSchema,
    headers: Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]+$' }), Type.String({ maxLength: 4_096 }), {
      default: {},
      maxProperties: 50,
      title: 'Further headers',
      description: 'Sent with every request; no secrets here, they would be shown.',
    }),
    caCertificate: Type.Optional(
      Type.String({
        maxLength: 200_000,
        title: 'Certificate of the authority',
        description: 'PEM text of an authority that this machine does not know.',
      }),
    ),
    paging: pagingSchema,
    mapping: Type.Optional(mappingSchema),
  },
  { additionalProperties: false, title: 'JSON over HTTP' },
);

export type HttpJsonConfig = Static<typeof configSchema>;
export type Paging = HttpJsonConfig['paging'];
