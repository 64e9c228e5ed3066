import { type Static, Type } from '@sinclair/typebox';
import { mappingSchema } from '../../src/connectors/mapping-schema.ts';

const query = { minLength: 1, maxLength: 65_536 };
const name = { minLength: 1, maxLength: 1_024 };

/** The configuration of the kind `sql`. */
export const configSchema = Type.Object(
  {
    engine: Type.Union([Type.Literal('postgres'), Type.Literal('mysql'), Type.Literal('sqlite')], {
      title: 'Database',
      description: 'postgres, mysql (MariaDB too), or sqlite.',
    }),
    file: Type.Optional(
      Type.String({
        ...name,
        title: 'File',
        description: 'For sqlite: full path of the database. It is opened for reading only.',
      }),
    ),
    host: Type.Optional(
      Type.String({ ...name, title: 'Host', description: 'Name of the server, as its certificate has it.' }),
    ),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        title: 'Port',
        description: 'Without it 5432 for postgres, 3306 for mysql.',
      }),
    ),
    database: Type.Optional(
      Type.String({ ...name, title: 'Name of the database', description: 'What the server calls it.' }),
    ),
    username: Type.Optional(
      Type.String({
        ...name,
        title: 'User',
        description: 'A user that may do nothing but read these tables.',
      }),
    ),
    password: Type.Optional(
      Type.String({ maxLength: 4_096, writeOnly: true, title: 'Password', description: 'Of that user.' }),
    ),
    tls: Type.Boolean({
      default: true,
      title: 'TLS',
      description:
        'Encrypts the connection and verifies the certificate of the server. Off only within one machine.',
    }),
    caCertificate: Type.Optional(
      Type.String({
        maxLength: 65_536,
        title: 'Certificate authority',
        description:
          'PEM text of the authority that issued the certificate of the server, if it is a private one.',
      }),
    ),
    users: Type.String({
      ...query,
      title: 'Query for people',
      description: 'One SELECT; a row for each person. Name columns with AS.',
    }),
    groups: Type.Optional(
      Type.String({
        ...query,
        title: 'Query for groups',
        description: 'One SELECT with columns id, type, name and description.',
      }),
    ),
    memberships: Type.Optional(
      Type.String({
        ...query,
        title: 'Query for memberships',
        description:
          'One SELECT; the first column is the id of the person, the second the id of the group or, without a query for groups, the name of a security group.',
      }),
    ),
    timeoutSeconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 600,
      title: 'Time limit',
      description: 'How many seconds the server may work on one query.',
    }),
    mapping: Type.Optional(mappingSchema),
  },
  { additionalProperties: false, title: 'SQL database' },
);

export type SqlConfig = Static<typeof configSchema>;
