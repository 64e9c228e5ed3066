import { Elysia } from 'elysia';
import { DomainError } from '../errors.ts';
import { compileRe2 } from '../pattern/re2.ts';
import type { Operator } from '../security/audit.ts';
import { checkPassword } from '../security/password-rule.ts';
import type { AdditionalField, Configurations, Persona } from '../settings/configuration.ts';
import { type SettingName, type Settings, settingDefinitions } from '../settings/settings.ts';
import { answer } from './answer.ts';
import {
  changeSettingsRequest,
  type FieldListView,
  type FieldView,
  fieldParams,
  newFieldRequest,
  newPersonaRequest,
  type PersonaListView,
  type PersonaView,
  type SettingsView,
  type TriedView,
  tryPasswordRequest,
  tryPatternRequest,
} from './configuration-model.ts';
import { emptyRequest } from './model.ts';
import { describe, shows } from './openapi.ts';

export interface ConfigurationParts {
  readonly configurations: Configurations;
  readonly operatorOf: (request: Request) => Operator;
}

/** What holds for the whole installation: settings, additional fields, personas. */
export function configuration(parts: ConfigurationParts) {
  return new Elysia({ name: 'admin.configuration' })
    .use(settings(parts))
    .use(trials())
    .use(fields(parts))
    .use(personas(parts));
}

function settings({ configurations, operatorOf }: ConfigurationParts) {
  const shown = async () => answer(toSettingsView((await configurations.current()).settings));
  return new Elysia({ name: 'admin.settings' })
    .get('/settings', shown, {
      detail: describe({
        id: 'listSettings',
        summary: 'List the settings',
        answers: { 200: shows('Settings', 'Every setting, with its value, default and bounds.') },
      }),
    })
    .patch(
      '/settings',
      async ({ request, body }) => {
        const texts = Object.entries(body).map(([name, value]) => [name, String(value)] as const);
        await configurations.setSettings(new Map(texts), { by: operatorOf(request) });
        return shown();
      },
      {
        body: changeSettingsRequest,
        detail: describe({
          id: 'changeSettings',
          summary: 'Change settings together; those that are absent stay',
          body: 'ChangeSettingsRequest',
          answers: { 200: shows('Settings', 'Every setting, as it is now.') },
          kinds: ['storageFull'],
        }),
      },
    );
}

/** Boxes to try a pattern before it is in force. Nothing of what is tried is kept or logged. */
function trials() {
  const tried = { 200: shows('Tried', 'Whether it matches, and why not.') };
  return new Elysia({ name: 'admin.trials' })
    .post(
      '/settings/try-password',
      ({ body: { regex, password } }) => outcomeOf(() => checkPassword(password, regex)),
      {
        body: tryPasswordRequest,
        detail: describe({
          id: 'tryPassword',
          summary: 'Try a password against a password strength regex',
          body: 'TryPasswordRequest',
          answers: tried,
        }),
      },
    )
    .post(
      '/fields/try-pattern',
      ({ body: { pattern, value } }) =>
        outcomeOf(async () => {
          if (!(await compileRe2(`^(?:${pattern})$`)).test(value)) throw noMatch();
        }),
      {
        body: tryPatternRequest,
        detail: describe({
          id: 'tryPattern',
          summary: 'Try a value against the pattern of an additional field',
          body: 'TryPatternRequest',
          answers: tried,
        }),
      },
    );
}

function noMatch(): DomainError {
  return new DomainError('invalidValue', 'The value does not match the pattern.');
}

async function outcomeOf(trial: () => Promise<void>): Promise<Response> {
  try {
    await trial();
    return answer({ matches: true, message: null } satisfies TriedView);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = error instanceof DomainError ? error.detail : error.message;
    return answer({ matches: false, message } satisfies TriedView);
  }
}

function fields({ configurations, operatorOf }: ConfigurationParts) {
  const params = fieldParams;
  return new Elysia({ name: 'admin.fields' })
    .get(
      '/fields',
      async () =>
        answer({ fields: (await configurations.listFields()).map(toFieldView) } satisfies FieldListView),
      {
        detail: describe({
          id: 'listFields',
          summary: 'List the additional fields',
          answers: { 200: shows('FieldList', 'The fields, in the order in which they were made.') },
        }),
      },
    )
    .post(
      '/fields',
      async ({ request, body: { label, type, pattern, required = false } }) => {
        const by = operatorOf(request);
        const field = await configurations.createField(label, type, pattern || null, { required, by });
        return answer(toFieldView(field), { status: 201 });
      },
      {
        body: newFieldRequest,
        detail: describe({
          id: 'createField',
          summary: 'Make an additional field, or bring a removed one back with its values',
          body: 'NewFieldRequest',
          answers: { 201: shows('Field', 'The field, with the id that SCIM and files know it by.') },
          kinds: ['uniqueness', 'storageFull'],
        }),
      },
    )
    .delete(
      '/fields/:field',
      async ({ request, params: { field } }) =>
        answer(toFieldView(await configurations.removeField(field, operatorOf(request)))),
      {
        params,
        body: emptyRequest,
        detail: describe({
          id: 'removeField',
          summary: 'Take an additional field out of every profile; its values come back with it',
          params,
          body: 'EmptyRequest',
          answers: { 200: shows('Field', 'The field that was removed.') },
          kinds: ['notFound', 'storageFull'],
        }),
      },
    );
}

function personas({ configurations, operatorOf }: ConfigurationParts) {
  return new Elysia({ name: 'admin.personas' })
    .get(
      '/personas',
      async () => {
        const all = (await configurations.current()).personas;
        return answer({ personas: all.map(toPersonaView) } satisfies PersonaListView);
      },
      {
        detail: describe({
          id: 'listPersonas',
          summary: 'List the personas',
          answers: { 200: shows('PersonaList', 'The personas, with the groups that make them.') },
        }),
      },
    )
    .post(
      '/personas',
      async ({ request, body }) => {
        const persona = await configurations.createPersona(body, operatorOf(request));
        return answer(toPersonaView(persona), { status: 201 });
      },
      {
        body: newPersonaRequest,
        detail: describe({
          id: 'createPersona',
          summary: 'Make a persona of any or all of some groups',
          body: 'NewPersonaRequest',
          answers: { 201: shows('Persona', 'The persona.') },
          kinds: ['uniqueness', 'storageFull'],
        }),
      },
    );
}

function toSettingsView(current: Settings): SettingsView {
  const entries = Object.entries(settingDefinitions).map(([name, definition]) => {
    const { type, default: standard, summary } = definition;
    const bounds = definition.type === 'number' ? { min: definition.min, max: definition.max } : {};
    return { name, type, value: current[name as SettingName], default: standard, summary, ...bounds };
  });
  return { settings: entries };
}

function toFieldView({ id, label, type, pattern, required }: AdditionalField): FieldView {
  return { id, label, type, pattern, required };
}

function toPersonaView({ id, name, rule, groupIds }: Persona): PersonaView {
  return { id, name, rule, groupIds: [...groupIds] };
}
