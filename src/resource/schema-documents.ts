import coreGroup from '../../schemas/scim/core-group.json' with { type: 'json' };
import coreUser from '../../schemas/scim/core-user.json' with { type: 'json' };
import enterpriseUser from '../../schemas/scim/enterprise-user.json' with { type: 'json' };
import platformGroup from '../../schemas/scim/platform-group.json' with { type: 'json' };
import platformUser from '../../schemas/scim/platform-user.json' with { type: 'json' };
import type { Attribute, Schema } from './schema.ts';

// The platform's `name.title` and `name.initials` are sub-attributes of a complex `name` of its extension, beside the
// core `name`, whose parts RFC 7643 §4.1.1 fixes. `personas` nests one list in another, readOnly, so no path needs it.
// The files are outside data to the compiler, which reads `type: "string"` as any text.
export const coreUserSchema = coreUser as Schema;
export const coreGroupSchema = coreGroup as Schema;
export const enterpriseUserSchema = enterpriseUser as Schema;
export const platformUserSchema = platformUser as Schema;
export const platformGroupSchema = platformGroup as Schema;

const plain = {
  type: 'string',
  multiValued: false,
  required: false,
  caseExact: true,
  mutability: 'readOnly',
  returned: 'default',
  uniqueness: 'none',
} as const;

/** The attributes that every resource has and no schema lists (RFC 7643 §3, §3.1). */
export const commonAttributes: readonly Attribute[] = [
  {
    ...plain,
    name: 'schemas',
    type: 'reference',
    multiValued: true,
    returned: 'always',
    description: 'Schemas in use.',
  },
  {
    ...plain,
    name: 'id',
    returned: 'always',
    uniqueness: 'server',
    description: 'Identifier given by the platform.',
  },
  { ...plain, name: 'externalId', mutability: 'readWrite', description: 'Identifier given by the client.' },
  {
    ...plain,
    name: 'meta',
    type: 'complex',
    description: 'Facts about the resource.',
    subAttributes: [
      { ...plain, name: 'resourceType', description: 'Name of the resource type.' },
      { ...plain, name: 'created', type: 'dateTime', description: 'When the resource was created.' },
      {
        ...plain,
        name: 'lastModified',
        type: 'dateTime',
        description: 'When the resource was last changed.',
      },
      { ...plain, name: 'location', type: 'reference', description: 'Address of the resource.' },
      { ...plain, name: 'version', description: 'Entity tag of the resource.' },
    ],
  },
];
