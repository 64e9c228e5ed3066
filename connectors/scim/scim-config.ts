// The configuration of the kind `scim`, and how SCIM attributes become those of a profile file.

import { type Static, Type } from '@sinclair/typebox';
import type { Mapping } from '../../src/connectors/contract.ts';
import { authSchema } from '../../src/connectors/http-auth.ts';
import { mappingSchema } from '../../src/connectors/mapping-schema.ts';

const filter = { maxLength: 4_000 };

export const configSchema = Type.Object(
  {
    baseUrl: Type.String({
      minLength: 1,
      maxLength: 4_000,
      title: 'Base address',
      description: 'Of the SCIM 2.0 server, without /Users: https://example.com/scim/v2.',
    }),
    auth: authSchema,
    caCertificate: Type.Optional(
      Type.String({
        maxLength: 200_000,
        title: 'Certificate of the authority',
        description: 'PEM text of an authority that this machine does not know.',
      }),
    ),
    userFilter: Type.Optional(
      Type.String({
        ...filter,
        title: 'Filter of people',
        description: 'SCIM filter that people meet, as userType eq "Employee".',
      }),
    ),
    groups: Type.Boolean({
      default: true,
      title: 'Groups',
      description: 'Reads groups and their members too. Without them memberships are left alone.',
    }),
    groupFilter: Type.Optional(
      Type.String({ ...filter, title: 'Filter of groups', description: 'SCIM filter that groups meet.' }),
    ),
    nestedGroups: Type.Boolean({
      default: true,
      title: 'Nested groups',
      description: 'A member of a group is a member of the groups that contain it as well.',
    }),
    paging: Type.Unsafe<'auto' | 'index' | 'cursor'>({
      type: 'string',
      enum: ['auto', 'index', 'cursor'],
      default: 'auto',
      title: 'Pages',
      description: 'By startIndex, by cursor (RFC 9865), or by cursor where the server says that it can.',
    }),
    pageSize: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 100,
      title: 'Page size',
      description: 'Resources asked for at once; a server may give fewer.',
    }),
    mapping: Type.Optional(mappingSchema),
  },
  { additionalProperties: false, title: 'SCIM 2.0' },
);

export type ScimConfig = Static<typeof configSchema>;

/** Columns are attributes by their paths, and what columns.ts adds. */
export const defaultMapping: Mapping = {
  user: {
    id: 'id',
    username: 'userName',
    active: 'active',
    title: 'name.honorificPrefix',
    firstname: 'name.givenName',
    middlename: 'name.middleName',
    surname: 'name.familyName',
    displayname: 'displayName',
    email: 'primaryEmail',
    'alternateemail.home': 'emails[type=home].value',
    jobtitle: 'title',
    employeenumber: 'enterprise.employeeNumber',
    company: 'enterprise.organization',
    department: 'enterprise.department',
    manager: { column: 'managerId', otherwise: null },
    culture: { column: 'locale', replace: [{ pattern: '_', with: '-' }] },
    timezone: 'timezone',
    'phones.work': 'phoneNumbers[type=work].value',
    'phones.mobile': 'phoneNumbers[type=mobile].value',
    'phones.home': 'phoneNumbers[type=home].value',
    'addresses.work.street': 'addresses[type=work].streetAddress',
    'addresses.work.locality': 'addresses[type=work].locality',
    'addresses.work.region': 'addresses[type=work].region',
    'addresses.work.postalcode': 'addresses[type=work].postalCode',
    'addresses.work.country': 'addresses[type=work].country',
    groups: 'groupIds',
  },
  group: { id: 'id', name: 'displayName', type: { constant: 'security group' } },
};
