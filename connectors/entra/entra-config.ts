// The configuration of the kind `entra`, and where Microsoft's clouds are.

import { type Static, Type } from '@sinclair/typebox';
import type { Mapping } from '../../src/connectors/contract.ts';
import { mappingSchema } from '../../src/connectors/mapping-schema.ts';

const address = { pattern: '^https?://', maxLength: 1_000 };

export const configSchema = Type.Object(
  {
    tenantId: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9.-]*$',
      maxLength: 200,
      title: 'Tenant',
      description: 'Id of the directory, or one of its domains.',
    }),
    clientId: Type.String({
      minLength: 1,
      maxLength: 200,
      title: 'Application',
      description: 'Application (client) id of the app registration.',
    }),
    clientSecret: Type.String({
      minLength: 1,
      maxLength: 4_096,
      writeOnly: true,
      title: 'Client secret',
      description: 'Value of a client secret of the app registration, not its id.',
    }),
    cloud: Type.Unsafe<'global' | 'us-government' | 'us-government-dod' | 'china'>({
      type: 'string',
      enum: ['global', 'us-government', 'us-government-dod', 'china'],
      default: 'global',
      title: 'Cloud',
      description: 'Which of the clouds of Microsoft the tenant is in.',
    }),
    loginUrl: Type.Optional(
      Type.String({
        ...address,
        title: 'Address of the login',
        description: 'Instead of the one of the cloud.',
      }),
    ),
    graphUrl: Type.Optional(
      Type.String({
        ...address,
        title: 'Address of Graph',
        description: 'Instead of the one of the cloud, without /v1.0.',
      }),
    ),
    caCertificate: Type.Optional(
      Type.String({
        maxLength: 200_000,
        title: 'Certificate of the authority',
        description: 'PEM text of an authority that this machine does not know: of a proxy that opens TLS.',
      }),
    ),
    userFilter: Type.Optional(
      Type.String({
        maxLength: 4_000,
        title: 'Filter of people',
        description:
          "OData filter that people meet, as userType eq 'Member'. Advanced queries (ne, not, endsWith) are not sent.",
      }),
    ),
    groups: Type.Boolean({
      default: true,
      title: 'Groups',
      description: 'Reads groups and their members too. Without them memberships are left alone.',
    }),
    groupFilter: Type.Optional(
      Type.String({
        maxLength: 4_000,
        title: 'Filter of groups',
        description: 'OData filter that groups meet, as securityEnabled eq true.',
      }),
    ),
    nestedGroups: Type.Boolean({
      default: true,
      title: 'Nested groups',
      description: 'A member of a group is a member of the groups that contain it as well.',
    }),
    pageSize: Type.Integer({
      minimum: 1,
      maximum: 999,
      default: 999,
      title: 'Page size',
      description: 'Objects asked for at once; Graph may give fewer.',
    }),
    mapping: Type.Optional(mappingSchema),
  },
  { additionalProperties: false, title: 'Microsoft Entra ID' },
);

export type EntraConfig = Static<typeof configSchema>;

interface Cloud {
  readonly login: string;
  readonly graph: string;
}

const clouds: Readonly<Record<EntraConfig['cloud'], Cloud>> = {
  global: { login: 'https://login.microsoftonline.com', graph: 'https://graph.microsoft.com' },
  'us-government': { login: 'https://login.microsoftonline.us', graph: 'https://graph.microsoft.us' },
  'us-government-dod': { login: 'https://login.microsoftonline.us', graph: 'https://dod-graph.microsoft.us' },
  china: { login: 'https://login.chinacloudapi.cn', graph: 'https://microsoftgraph.chinacloudapi.cn' },
};

/** Without a slash at the end. */
export function cloudOf({ cloud, loginUrl, graphUrl }: EntraConfig): Cloud {
  const bare = (url: string) => url.replace(/\/+$/, '');
  return { login: bare(loginUrl ?? clouds[cloud].login), graph: bare(graphUrl ?? clouds[cloud].graph) };
}

/** Columns that Graph does not have, made from what it has. */
export const computedColumns: readonly string[] = ['managerId', 'groupIds'];

export const defaultMapping: Mapping = {
  user: {
    id: 'id',
    username: 'userPrincipalName',
    active: 'accountEnabled',
    firstname: 'givenName',
    surname: 'surname',
    displayname: 'displayName',
    email: 'mail',
    jobtitle: 'jobTitle',
    employeenumber: 'employeeId',
    jobstartdate: 'employeeHireDate',
    company: 'companyName',
    department: 'department',
    location: 'officeLocation',
    culture: 'preferredLanguage',
    'phones.work': 'businessPhones[0]',
    'phones.mobile': 'mobilePhone',
    'addresses.work.street': 'streetAddress',
    'addresses.work.locality': 'city',
    'addresses.work.region': 'state',
    'addresses.work.postalcode': 'postalCode',
    'addresses.work.country': 'country',
    manager: { column: 'managerId', otherwise: null },
    groups: 'groupIds',
  },
  group: { id: 'id', name: 'displayName', description: 'description', type: { constant: 'security group' } },
};
