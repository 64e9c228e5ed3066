// The configuration of the kind `ldap`, and what the two products differ in.

import { type Static, Type } from '@sinclair/typebox';
import type { Mapping } from '../../src/connectors/contract.ts';
import { mappingSchema } from '../../src/connectors/mapping-schema.ts';

const baseDn = Type.String({ minLength: 1, maxLength: 2_000 });

export const configSchema = Type.Object(
  {
    product: Type.Unsafe<'active-directory' | 'openldap'>({
      type: 'string',
      enum: ['active-directory', 'openldap'],
      default: 'active-directory',
      title: 'Product',
      description: 'Decides the default filters and mapping. "openldap" suits other LDAP servers too.',
    }),
    host: Type.String({
      minLength: 1,
      maxLength: 255,
      title: 'Host',
      description:
        'Name of the server, as its certificate says it; with Active Directory a domain controller.',
    }),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        title: 'Port',
        description: '389, or 636 with ldaps, unless given. 3268 and 3269 are the global catalogue.',
      }),
    ),
    encryption: Type.Unsafe<'starttls' | 'ldaps' | 'none'>({
      type: 'string',
      enum: ['starttls', 'ldaps', 'none'],
      default: 'starttls',
      title: 'Encryption',
      description:
        'StartTLS on the plain port, TLS from the first byte, or none: then the password can be read on the way.',
    }),
    caCertificate: Type.Optional(
      Type.String({
        maxLength: 200_000,
        title: 'Certificate of the authority',
        description:
          'PEM text of the authority that issued the certificate of the server; else those of the system count.',
      }),
    ),
    caFile: Type.Optional(
      Type.String({
        maxLength: 4_096,
        title: 'File with the certificate of the authority',
        description: 'Path of a PEM file on this machine, instead of the text.',
      }),
    ),
    bindDn: Type.Optional(
      Type.String({
        maxLength: 2_000,
        title: 'Bind DN',
        description:
          'The account that reads: its distinguished name or, with Active Directory, its userPrincipalName. Anonymous without it.',
      }),
    ),
    password: Type.Optional(
      Type.String({
        maxLength: 1_024,
        writeOnly: true,
        title: 'Password',
        description: 'Password of the bind DN.',
      }),
    ),
    userBaseDns: Type.Array(baseDn, {
      minItems: 1,
      maxItems: 100,
      title: 'Where people are',
      description: 'Base DNs; everything below each is searched.',
    }),
    userFilter: Type.Optional(
      Type.String({
        maxLength: 8_000,
        title: 'Filter of people',
        description:
          'LDAP filter that people meet. Active Directory: (&(objectCategory=person)(objectClass=user)). Else: (objectClass=inetOrgPerson).',
      }),
    ),
    groupBaseDns: Type.Optional(
      Type.Array(baseDn, {
        minItems: 1,
        maxItems: 100,
        title: 'Where groups are',
        description: 'Base DNs of the groups to bring along. Without it memberships are left alone.',
      }),
    ),
    groupFilter: Type.Optional(
      Type.String({
        maxLength: 8_000,
        title: 'Filter of groups',
        description:
          'LDAP filter that groups meet. Active Directory: (objectCategory=group). Else: groupOfNames, groupOfUniqueNames and posixGroup.',
      }),
    ),
    nestedGroups: Type.Boolean({
      default: true,
      title: 'Nested groups',
      description:
        'A member of a group is a member of the groups that contain it as well, as long as they are found too.',
    }),
    inactiveWhen: Type.Optional(
      Type.Object(
        {
          attribute: Type.String({
            pattern: '^[A-Za-z][A-Za-z0-9-]*$',
            maxLength: 200,
            title: 'Attribute',
            description: 'For example employeeType or nsAccountLock.',
          }),
          values: Type.Array(Type.String({ maxLength: 1_000 }), {
            default: [],
            maxItems: 1_000,
            title: 'Values',
            description: 'A person with one of them is not active. Empty: whoever has the attribute at all.',
          }),
        },
        {
          additionalProperties: false,
          title: 'Who is not active',
          description:
            'Active Directory: the disabled bit of userAccountControl. Else: pwdAccountLockedTime is 000001010000Z.',
        },
      ),
    ),
    pageSize: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      default: 500,
      title: 'Page size',
      description:
        'Entries asked for at once; Active Directory gives 1000 at most. 0 asks for everything at once.',
    }),
    timeLimitSeconds: Type.Integer({
      minimum: 1,
      maximum: 3_600,
      default: 120,
      title: 'Time limit',
      description: 'Seconds that the server may take over one page.',
    }),
    ignoreReferrals: Type.Boolean({
      default: false,
      title: 'Ignore referrals',
      description:
        'Leaves out what the directory keeps on other servers, instead of failing: whoever is there is missing.',
    }),
    mapping: Type.Optional(mappingSchema),
  },
  { additionalProperties: false, title: 'LDAP and Active Directory' },
);

export type LdapConfig = Static<typeof configSchema>;

export interface Product {
  readonly userFilter: string;
  readonly groupFilter: string;
  readonly mapping: Mapping;
  /** Who is not active unless the configuration says; undefined where userAccountControl does. */
  readonly inactiveWhen: LdapConfig['inactiveWhen'];
}

const common = {
  active: 'isActive',
  firstname: 'givenName',
  surname: 'sn',
  initials: 'initials',
  email: 'mail',
  jobtitle: 'title',
  culture: 'preferredLanguage',
  'phones.work': 'telephoneNumber',
  'phones.home': 'homePhone',
  'phones.mobile': 'mobile',
  'addresses.work.locality': 'l',
  'addresses.work.region': 'st',
  'addresses.work.postalcode': 'postalCode',
  manager: { column: 'managerId', otherwise: null },
  groups: 'groupIds',
} as const;

const group = { type: { constant: 'security group' }, name: 'cn', description: 'description' } as const;

export const products: Readonly<Record<LdapConfig['product'], Product>> = {
  'active-directory': {
    userFilter: '(&(objectCategory=person)(objectClass=user))',
    groupFilter: '(objectCategory=group)',
    inactiveWhen: undefined,
    mapping: {
      user: {
        ...common,
        id: 'objectGUID',
        username: 'sAMAccountName',
        middlename: 'middleName',
        displayname: 'displayName',
        employeenumber: 'employeeID',
        'addresses.work.street': 'streetAddress',
        'addresses.work.country': 'c',
        company: 'company',
        department: 'department',
        location: 'physicalDeliveryOfficeName',
      },
      group: { ...group, id: 'objectGUID' },
    },
  },
  openldap: {
    userFilter: '(objectClass=inetOrgPerson)',
    groupFilter: '(|(objectClass=groupOfNames)(objectClass=groupOfUniqueNames)(objectClass=posixGroup))',
    inactiveWhen: { attribute: 'pwdAccountLockedTime', values: ['000001010000Z'] },
    mapping: {
      user: {
        ...common,
        id: 'entryUUID',
        username: 'uid',
        displayname: 'cn',
        employeenumber: 'employeeNumber',
        'addresses.work.street': 'street',
        company: 'o',
        department: 'ou',
        location: 'physicalDeliveryOfficeName',
      },
      group: { ...group, id: 'entryUUID' },
    },
  },
};
