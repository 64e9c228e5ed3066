import type { Command } from 'commander';
import type { ResourceType, Schema } from '../resource/schema.ts';
import { type Answer, answering, type Call, type Exit } from './command.ts';
import { version } from './version.ts';

export function registerSchema(program: Command, exit: Exit): void {
  const group = program.command('schema').description('the published schemas');
  answering(group.command('xsd').description('XML Schema of the profile file'), exit, {
    settings: [],
    action: xsd,
  });
  answering(
    group
      .command('scim')
      .description('SCIM schemas as a ListResponse; with --data also that of the additional fields'),
    exit,
    { action: scim },
  );
  answering(group.command('openapi').description('OpenAPI document of the HTTP interface'), exit, {
    settings: [],
    action: openapi,
  });
}

async function xsd(): Promise<Answer> {
  const { profileSchemaText } = await import('../xml/profile-schema.ts');
  return { value: { xsd: profileSchemaText }, text: profileSchemaText.trimEnd() };
}

async function scim(call: Call): Promise<Answer> {
  const types = call.isSet.has('data') ? await configuredTypes(call) : await builtInTypes();
  const resources = types.flatMap(({ schema, extensions }): Schema[] => [schema, ...extensions]);
  return document({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: resources.length,
    startIndex: 1,
    itemsPerPage: resources.length,
    Resources: resources,
  });
}

async function builtInTypes(): Promise<readonly ResourceType[]> {
  const { buildResourceType } = await import('../resource/schema.ts');
  return [buildResourceType('User'), buildResourceType('Group')];
}

async function configuredTypes({ config }: Call): Promise<readonly ResourceType[]> {
  const { openForCommand } = await import('./services.ts');
  await using services = await openForCommand(config);
  const { userType, groupType } = await services.configurations.current();
  return [userType, groupType];
}

async function openapi(): Promise<Answer> {
  const { openApiDocument } = await import('../openapi.ts');
  return document(openApiDocument(version));
}

function document(value: unknown): Answer {
  return { value, text: JSON.stringify(value, null, 2) };
}
