// The shapes of what holds for the whole installation: settings, additional fields, personas, and boxes to try patterns.

import { type Static, t } from 'elysia';

const strict = { additionalProperties: false } as const;
const name = t.String({ minLength: 1, maxLength: 200 });
const pattern = t.String({ maxLength: 4_096 });
const fieldType = t.Union([
  t.Literal('string'),
  t.Literal('boolean'),
  t.Literal('integer'),
  t.Literal('decimal'),
  t.Literal('dateTime'),
]);
const rule = t.Union([t.Literal('any'), t.Literal('all')]);

export const changeSettingsRequest = t.Record(
  t.String({ maxLength: 100 }),
  t.Union([t.String({ maxLength: 4_096 }), t.Number()]),
);
export const settingsView = t.Object({
  settings: t.Array(
    t.Object({
      name: t.String(),
      type: t.String(),
      value: t.Union([t.String(), t.Number()]),
      default: t.Union([t.String(), t.Number()]),
      summary: t.String(),
      min: t.Optional(t.Number()),
      max: t.Optional(t.Number()),
    }),
  ),
});

export const tryPasswordRequest = t.Object(
  { regex: pattern, password: t.String({ maxLength: 1_024 }) },
  strict,
);
export const tryPatternRequest = t.Object({ pattern, value: t.String({ maxLength: 4_096 }) }, strict);
/** `message`: why not. */
export const triedView = t.Object({ matches: t.Boolean(), message: t.Nullable(t.String()) });

export const newFieldRequest = t.Object(
  {
    label: name,
    type: fieldType,
    pattern: t.Optional(t.String({ maxLength: 1_000 })),
    required: t.Optional(t.Boolean()),
  },
  strict,
);
export const fieldParams = t.Object({ field: t.String({ minLength: 1, maxLength: 200 }) });
export const fieldView = t.Object({
  id: t.String(),
  label: t.String(),
  type: fieldType,
  pattern: t.Nullable(t.String()),
  required: t.Boolean(),
});
export const fieldListView = t.Object({ fields: t.Array(fieldView) });

export const newPersonaRequest = t.Object(
  { name, rule, groupIds: t.Array(t.Integer({ minimum: 1 }), { minItems: 1, maxItems: 1_000 }) },
  strict,
);
export const personaView = t.Object({
  id: t.Integer(),
  name: t.String(),
  rule,
  groupIds: t.Array(t.Integer()),
});
export const personaListView = t.Object({ personas: t.Array(personaView) });

export type SettingsView = Static<typeof settingsView>;
export type TriedView = Static<typeof triedView>;
export type FieldView = Static<typeof fieldView>;
export type FieldListView = Static<typeof fieldListView>;
export type PersonaView = Static<typeof personaView>;
export type PersonaListView = Static<typeof personaListView>;
