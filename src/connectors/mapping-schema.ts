import { Type } from '@sinclair/typebox';

// The part of a connector's configuration that says how records of the source become records of the file.
// `Mapping` of contract.ts says the same to the compiler.

const text = { minLength: 1, maxLength: 4_096 };
const rulesMax = 500;

const replacementSchema = Type.Object(
  {
    pattern: Type.String({ ...text, title: 'Pattern', description: 'An RE2 pattern.' }),
    with: Type.String({
      maxLength: 1_024,
      title: 'Replacement',
      description: 'What each match becomes; $1 is the first group of the pattern.',
    }),
  },
  { additionalProperties: false, title: 'Replacement' },
);

const ruleSchema = Type.Object(
  {
    column: Type.Optional(
      Type.String({
        ...text,
        title: 'Column',
        description: 'Name of a column, or a path as name.givenName.',
      }),
    ),
    template: Type.Optional(
      Type.String({
        ...text,
        title: 'Template',
        description: 'Text with {columns}. {column?} may be empty; {{ and }} are braces.',
      }),
    ),
    constant: Type.Optional(
      Type.Union([Type.String({ maxLength: 4_096 }), Type.Boolean(), Type.Number()], {
        title: 'Constant',
        description: 'The same value for everybody.',
      }),
    ),
    split: Type.Optional(
      Type.String({
        ...text,
        title: 'Split by',
        description: 'An RE2 pattern that cuts the text into a list.',
      }),
    ),
    replace: Type.Optional(
      Type.Array(replacementSchema, {
        maxItems: 50,
        title: 'Replace',
        description: 'Patterns and what their matches become, one after the other.',
      }),
    ),
    values: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        title: 'Values',
        description: 'Exact texts and what they become; others stay as they are.',
      }),
    ),
    case: Type.Optional(
      Type.Union([Type.Literal('lower'), Type.Literal('upper')], {
        title: 'Case',
        description: 'Makes all letters small (lower) or capital (upper).',
      }),
    ),
    otherwise: Type.Optional(
      Type.Union([Type.String({ maxLength: 4_096 }), Type.Null()], {
        title: 'Otherwise',
        description: 'What stands for an empty value; null clears what is stored.',
      }),
    ),
  },
  { additionalProperties: false, title: 'Rule' },
);

function rulesSchema(title: string, description: string) {
  const rule = Type.Union([Type.String({ ...text, title: 'Column' }), ruleSchema, Type.Null()]);
  return Type.Optional(Type.Record(Type.String(), rule, { maxProperties: rulesMax, title, description }));
}

/** The schema of `Mapping`, for the member `mapping` of a kind's configuration. */
export const mappingSchema = Type.Object(
  {
    user: rulesSchema(
      'People',
      'Attributes of a person and where their values come from: a column, a template or a constant.',
    ),
    group: rulesSchema('Groups', 'The same for groups: id, type, name and description.'),
  },
  {
    additionalProperties: false,
    title: 'Mapping',
    description: 'How records of the source become people and groups. What is not named keeps its default.',
  },
);
