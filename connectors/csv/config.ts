import { type Static, Type } from '@sinclair/typebox';
import { mappingSchema } from '../../src/connectors/mapping-schema.ts';
import { encodings } from './decode.ts';

const place = { minLength: 1, maxLength: 4_096 };

/** The configuration of the kind `csv`. */
export const configSchema = Type.Object(
  {
    folder: Type.Optional(
      Type.String({
        ...place,
        title: 'Folder',
        description:
          'Full path of the folder that the files lie in. Nothing outside it is read, not by a link either.',
      }),
    ),
    users: Type.String({
      ...place,
      title: 'Files of people',
      description: 'Path or glob inside the folder (people.csv, people-*.csv), or an https:// address.',
    }),
    groups: Type.Optional(
      Type.String({
        ...place,
        title: 'Files of groups',
        description:
          'Path, glob or address; columns id, type, name and description unless the mapping says otherwise.',
      }),
    ),
    memberships: Type.Optional(
      Type.String({
        ...place,
        title: 'Files of memberships',
        description: 'Path, glob or address; one row for each person in a group.',
      }),
    ),
    membershipUser: Type.String({
      maxLength: 1_024,
      default: '',
      title: 'Column of the person',
      description: 'In memberships: the column with the id of the person. Empty: the first column.',
    }),
    membershipGroup: Type.String({
      maxLength: 1_024,
      default: '',
      title: 'Column of the group',
      description:
        'In memberships: the column with the id of the group or, without files of groups, the name of a security group. Empty: the second column.',
    }),
    delimiter: Type.String({
      minLength: 1,
      maxLength: 4,
      pattern: '^(auto|tab|[^\\r\\n])$',
      default: 'auto',
      title: 'Delimiter',
      description:
        'One sign, "tab", or "auto": comma, semicolon, tab or |, whichever stands most often in the first line.',
    }),
    quote: Type.String({
      maxLength: 1,
      default: '"',
      title: 'Quote',
      description: 'The sign around fields with delimiters or line breaks; empty for none.',
    }),
    encoding: Type.Union(
      encodings.map((name) => Type.Literal(name)),
      {
        default: 'utf-8',
        title: 'Encoding',
        description: 'Of files without a byte order mark. Older Excel writes windows-1252.',
      },
    ),
    header: Type.Boolean({
      default: true,
      title: 'Header',
      description: 'The first row names the columns. Without it they are called 1, 2, 3 and so on.',
    }),
    completeMarker: Type.String({
      maxLength: 255,
      default: '',
      title: 'Marker of completeness',
      description: 'Name of a file in the folder that is written last. Empty: none is waited for.',
    }),
    minAgeSeconds: Type.Integer({
      minimum: 0,
      maximum: 86_400,
      default: 10,
      title: 'Age of files',
      description:
        'A file that was written more recently than this many seconds ago may not be complete, and is not read.',
    }),
    authorization: Type.Optional(
      Type.String({
        maxLength: 8_192,
        writeOnly: true,
        title: 'Authorization',
        description: 'For addresses: the header Authorization, such as "Bearer …" or "Basic …".',
      }),
    ),
    caCertificate: Type.Optional(
      Type.String({
        maxLength: 65_536,
        title: 'Certificate authority',
        description:
          'For addresses: the PEM text of the authority that issued the certificate, if it is a private one.',
      }),
    ),
    mapping: Type.Optional(mappingSchema),
  },
  { additionalProperties: false, title: 'CSV files' },
);

export type CsvConfig = Static<typeof configSchema>;
