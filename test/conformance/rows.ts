// Every behaviour of a known client and every row of the service description that SCIM has to answer to, by a name that
// stays. A conversation or a case says which of them it shows; runner.test.ts fails for one that nobody shows.
// Rows about files are shown by test/imports and test/upload. Bulk has tests of its own.

const numbered = (prefix: string, last: number) =>
  Array.from({ length: last }, (_, index) => `${prefix}${index + 1}`);

/** O16, the facade for SCIM 1.1, is not of the first release. */
const clients = [
  ...numbered('E', 22),
  'aadOptscim062020',
  ...numbered('O', 15),
  // OneLogin: connection test, plus signs and trailing marks, plain JSON without a user agent, unregistered URNs, those
  // of SCIM 1, groups by PATCH, three ways to deprovision.
  ...numbered('OL', 7),
  // JumpCloud: throw-away resources, members added again, lists of members.
  ...numbered('JC', 3),
  // Google: probe, users only, `active` on create, suspension and deletion.
  ...numbered('GO', 4),
  // Ping: userName, `emails eq`, remove by an object, disabled users, no PATCH.
  ...numbered('PI', 5),
  // Rippling: configuration, externalId and primary e-mail, a repeated create, groups.
  ...numbered('RI', 4),
  // authentik and others: the configuration is obeyed, whole groups, whole lists, the base without version, errors.
  ...numbered('AU', 5),
  // The list of what clients do alike.
  ...numbered('N', 11),
];

const rfc7644 = ['error-body', 'etag', 'me', 'discovery', 'patch', 'errata'].map((name) => `D-${name}`);

const rfcOfLists = ['sort', 'search', 'cursor', 'cursor-errors'].map((name) => `RFC-${name}`);

const configuration = ['name', 'generate-key', 'active', 'log-request-body', 'api-url-suffix'].map(
  (name) => `CF-${name}`,
);

const userFields = [
  ...['id', 'userName', 'externalId', 'active', 'emails', 'addresses', 'phoneNumbers', 'ims', 'manager'],
  ...['password', 'bio', 'additional', 'additional-ids', 'other'],
].map((name) => `F-${name}`);

const groupFields = ['id', 'displayName', 'externalId', 'members', 'type'].map((name) => `GF-${name}`);

const states = [
  ...['create', 'match', 'deactivate', 'reactivate', 'archive'],
  ...['group-create', 'group-delete', 'group-members', 'group-put'],
].map((name) => `ST-${name}`);

const endpoints = [
  ...['ServiceProviderConfig', 'ResourceTypes', 'Schemas', 'Schemas-urn'],
  ...['User', 'Group'].flatMap((name) => [
    ...[`POST-${name}s`, `GET-${name}s`, `GET-${name}`, `PUT-${name}`, `PATCH-${name}`, `DELETE-${name}`],
  ]),
].map((name) => `EP-${name}`);

const parameters = ['startIndex', 'count', 'filter-users', 'filter-groups'].map((name) => `QP-${name}`);

const patchExpressions = [
  ...['emails-work', 'addresses-home', 'addresses-work', 'ims-chat', 'ims-skype'],
  ...['phoneNumbers-home', 'phoneNumbers-work', 'phoneNumbers-mobile', 'other', 'members'],
].map((name) => `PX-${name}`);

const rules = [
  ...numbered('MR-', 4),
  ...['AU-bearer', 'AU-active', 'AU-password'],
  ...['manager-ambiguous', 'manager-numeric', 'regex', 'password-weak', 'bio', 'auth'].map(
    (name) => `ER-${name}`,
  ),
  ...['password-regex', 'bio', 'additional-ids', 'manager', 'patch-expressions', 'delete'].map(
    (name) => `LI-${name}`,
  ),
];

export const rows: readonly string[] = [
  ...clients,
  ...rfc7644,
  ...rfcOfLists,
  ...configuration,
  ...userFields,
  ...groupFields,
  ...states,
  ...endpoints,
  ...parameters,
  ...patchExpressions,
  ...rules,
];
