import { Elysia } from 'elysia';
import { DomainError } from '../errors.ts';
import { patchOperationsMax } from '../resource/patch-operation.ts';
import type { ResourceType, Schema } from '../resource/schema.ts';
import type { Configuration } from '../settings/configuration.ts';
import { json, list } from './answer.ts';
import { bulkLimits } from './bulk/bulk.ts';
import type { OpenCall, ScimCall } from './call.ts';
import { cursorTimeoutSeconds } from './cursors.ts';
import { discoveryOperations } from './operations.ts';

const configUrn = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig';
const resourceTypeUrn = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType';

/** What the service can do, from what it does: RFC 7644 §4, RFC 7643 §5 to §7. */
export function discovery(open: OpenCall) {
  return new Elysia({ name: 'scim.discovery' })
    .get(
      '/ServiceProviderConfig',
      async ({ request }) => {
        const call = await openUnfiltered(open, request);
        return json(request, serviceProviderConfig(call));
      },
      { detail: discoveryOperations.serviceProviderConfig },
    )
    .get(
      '/ResourceTypes',
      async ({ request }) => {
        const call = await openUnfiltered(open, request);
        return all(request, resourceTypes(call));
      },
      { detail: discoveryOperations.resourceTypes },
    )
    .get(
      '/ResourceTypes/:name',
      async ({ request, params }) => {
        const call = await openUnfiltered(open, request);
        const found = resourceTypes(call).find((type) => type.id === params.name);
        if (found === undefined)
          throw new DomainError('notFound', `There is no resource type "${params.name}".`);
        return json(request, found);
      },
      { detail: discoveryOperations.resourceType },
    )
    .get(
      '/Schemas',
      async ({ request }) => {
        const call = await openUnfiltered(open, request);
        return all(
          request,
          schemas(call.context.configuration).map((schema) => schemaResource(call, schema)),
        );
      },
      { detail: discoveryOperations.schemas },
    )
    .get(
      '/Schemas/:urn',
      async ({ request, params }) => {
        const call = await openUnfiltered(open, request);
        const wanted = params.urn.toLowerCase();
        const found = schemas(call.context.configuration).find(
          (schema) => schema.id.toLowerCase() === wanted,
        );
        if (found === undefined) throw new DomainError('notFound', `There is no schema "${params.urn}".`);
        return json(request, schemaResource(call, found));
      },
      { detail: discoveryOperations.schema },
    );
}

/** RFC 7644 §4: a filter on a discovery endpoint is refused, so that nobody takes a partial answer for the whole. */
async function openUnfiltered(open: OpenCall, request: Request): Promise<ScimCall> {
  const call = await open(request);
  if (!call.query.has('filter')) return call;
  throw new DomainError(
    'forbidden',
    'Discovery endpoints cannot be filtered; leave the parameter filter out.',
  );
}

function all(request: Request, resources: readonly { readonly id: string }[]): Response {
  const texts = resources.map((each) => JSON.stringify(each));
  return list(request, { totalResults: texts.length, startIndex: 1, resources: texts });
}

function serviceProviderConfig(call: ScimCall) {
  const { base, context } = call;
  const { countDefault, countMax } = context.configuration.settings;
  return {
    schemas: [configUrn],
    patch: { supported: true, maxOperations: patchOperationsMax },
    bulk: { supported: true, ...bulkLimits(call) },
    filter: { supported: true, maxResults: countMax },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    pagination: {
      cursor: true,
      index: true,
      defaultPaginationMethod: 'index',
      defaultPageSize: Math.min(countDefault, countMax),
      maxPageSize: countMax,
      cursorTimeout: cursorTimeoutSeconds,
    },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token of a SCIM profile source, as a Power User generated it',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

function resourceTypes({ base, context }: ScimCall) {
  const { userType, groupType } = context.configuration;
  return [userType, groupType].map((type: ResourceType) => ({
    schemas: [resourceTypeUrn],
    id: type.name,
    name: type.name,
    endpoint: type.endpoint,
    description: type.description,
    schema: type.schema.id,
    schemaExtensions: type.extensions.map((extension) => ({ schema: extension.id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${type.name}` },
  }));
}

function schemas({ userType, groupType }: Configuration): Schema[] {
  return [userType, groupType].flatMap((type) => [type.schema, ...type.extensions]);
}

function schemaResource({ base }: ScimCall, schema: Schema) {
  return { ...schema, meta: { resourceType: 'Schema', location: `${base}/Schemas/${schema.id}` } };
}
