import type { Components, JsonSchema, Parameter } from '../http/operation.ts';
import { schemaRef } from '../http/operation.ts';
import { bulkOperationsMax, bulkRequestUrn, bulkResponseUrn } from '../resource/bulk-request.ts';
import { patchOperationsMax, patchOpUrn } from '../resource/patch-operation.ts';
import {
  type AttributeDefinition,
  additionalFieldsUrn,
  buildResourceType,
  type ResourceType,
} from '../resource/schema.ts';
import { type Purpose, toObjectSchema } from './json-schema.ts';
import { searchRequestUrn } from './list-parameters.ts';

const messages = 'urn:ietf:params:scim:api:messages:2.0';
const core = 'urn:ietf:params:scim:schemas:core:2.0';

/** The shapes of the SCIM surface: resources as their SCIM schemas have them, and the envelopes of RFC 7644. */
export function scimComponents(): Components {
  const types = [buildResourceType('User'), buildResourceType('Group')];
  return {
    schemas: {
      ...Object.assign({}, ...types.map(resourceSchemas)),
      ...envelopes,
      ResourceList: listOf('User', 'Group'),
      ResourceTypeList: listOf('ResourceType'),
      SchemaList: listOf('Schema'),
    },
    parameters,
    securitySchemes: {
      scimToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'The token of a SCIM profile source, as a Power User generated it (RFC 6750).',
      },
    },
  };
}

function resourceSchemas(type: ResourceType): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = { [`${type.name}List`]: listOf(type.name) };
  for (const purpose of ['answer', 'request'] as const) {
    schemas[nameFor(type.name, purpose)] = resourceSchema(type, purpose);
    for (const { schema, attributes } of type.extensionsByUrn.values()) {
      const { description } = schema;
      schemas[nameFor(schema.name, purpose)] = {
        description,
        ...toObjectSchema(attributes.values(), purpose),
      };
    }
  }
  return schemas;
}

function nameFor(name: string, purpose: Purpose): string {
  return purpose === 'request' ? `${name}Request` : name;
}

function resourceSchema(type: ResourceType, purpose: Purpose): JsonSchema {
  const { properties, ...core } = toObjectSchema(type.attributes.values().map(withOpenValues), purpose);
  const extensions = type.extensions.map(({ id, name }) => [id, schemaRef(nameFor(name, purpose))]);
  const configured = type.name === 'User' ? { [additionalFieldsUrn]: additionalFields } : {};
  return {
    description: type.description,
    ...core,
    properties: { ...Object(properties), ...Object.fromEntries(extensions), ...configured },
  };
}

/** A Power User may name more types of users; /Schemas says which there are. */
function withOpenValues(attribute: AttributeDefinition): AttributeDefinition {
  const { path, closedValues } = attribute;
  if (path !== 'userType' || closedValues === undefined) return attribute;
  return { ...attribute, closedValues: undefined, canonicalValues: [...closedValues.values()] };
}

const additionalFields: JsonSchema = {
  type: 'object',
  description: 'The additional fields that are configured, as /Schemas has them.',
};

function listOf(...schemas: string[]): JsonSchema {
  const items = schemas.map(schemaRef);
  return {
    type: 'object',
    description: 'A page of a list (RFC 7644 §3.4.2).',
    required: ['schemas', 'itemsPerPage', 'Resources'],
    properties: {
      schemas: { const: [`${messages}:ListResponse`] },
      totalResults: {
        type: 'integer',
        minimum: 0,
        description: 'Left out with a cursor where only looking at every resource would tell.',
      },
      startIndex: { type: 'integer', minimum: 1, description: 'Left out with a cursor.' },
      itemsPerPage: { type: 'integer', minimum: 0 },
      nextCursor: {
        type: 'string',
        description: 'The cursor of the next page (RFC 9865); left out with the last one.',
      },
      Resources: { type: 'array', items: items.length === 1 ? items[0] : { anyOf: items } },
    },
  };
}

const text: JsonSchema = { type: 'string' };
const truth: JsonSchema = { type: 'boolean' };
const amount: JsonSchema = { type: 'integer', minimum: 0 };

function object(properties: Readonly<Record<string, JsonSchema>>, ...optional: string[]): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties };
}

const metaOfDiscovery = object({ resourceType: text, location: text });
const supported = object({ supported: truth });

const envelopes: Readonly<Record<string, JsonSchema>> = {
  ScimError: {
    description: 'RFC 7644 §3.12.',
    ...object(
      {
        schemas: { const: [`${messages}:Error`] },
        status: { type: 'string', pattern: '^[45][0-9]{2}$' },
        scimType: { type: 'string', description: 'Keyword of RFC 7644 §3.12, with status 400, 403 or 409.' },
        detail: { type: 'string', description: 'One sentence: what is wrong, and what to do.' },
      },
      'scimType',
    ),
  },
  PatchOp: {
    description: 'RFC 7644 §3.5.2.',
    ...object({
      schemas: { type: 'array', items: text, contains: { const: patchOpUrn } },
      Operations: {
        type: 'array',
        minItems: 1,
        maxItems: patchOperationsMax,
        items: object(
          {
            op: {
              type: 'string',
              pattern: '^([aA][dD][dD]|[rR][eE][mM][oO][vV][eE]|[rR][eE][pP][lL][aA][cC][eE])$',
              examples: ['add', 'remove', 'replace'],
              description: 'Letter case is ignored.',
            },
            path: { type: 'string', description: 'RFC 7644 §3.5.2, figure 7.' },
            value: { description: 'Required with add and replace.' },
          },
          'path',
          'value',
        ),
      },
    }),
  },
  BulkRequest: {
    description: 'RFC 7644 §3.7.',
    ...object(
      {
        schemas: { type: 'array', items: text, contains: { const: bulkRequestUrn } },
        failOnErrors: {
          type: 'integer',
          minimum: 1,
          description: 'How many failed operations end the request; left out: all operations are tried.',
        },
        Operations: {
          type: 'array',
          minItems: 1,
          maxItems: bulkOperationsMax,
          items: object(
            {
              method: { enum: ['POST', 'PUT', 'PATCH', 'DELETE'] },
              bulkId: {
                type: 'string',
                description: 'Name of the new resource in this request; required with POST.',
              },
              version: { type: 'string', description: 'What If-Match says of a single request.' },
              path: { type: 'string', examples: ['/Users', '/Users/7', '/Groups/bulkId:sales'] },
              data: { type: 'object', description: 'Body of the single request; required but with DELETE.' },
            },
            'bulkId',
            'version',
            'data',
          ),
        },
      },
      'failOnErrors',
    ),
  },
  BulkResponse: {
    description: 'RFC 7644 §3.7: what came of the operations that were done, in the order of the request.',
    ...object({
      schemas: { const: [bulkResponseUrn] },
      Operations: {
        type: 'array',
        items: object(
          {
            location: { type: 'string', description: 'Absent when a POST failed.' },
            method: text,
            bulkId: text,
            version: {
              type: 'string',
              description: 'Entity tag of the resource as it is after the operation.',
            },
            status: { type: 'string', pattern: '^[245][0-9]{2}$' },
            response: schemaRef('ScimError'),
          },
          'location',
          'method',
          'bulkId',
          'version',
          'response',
        ),
      },
    }),
  },
  SearchRequest: {
    description: 'RFC 7644 §3.4.3. Letter case of the names is ignored.',
    ...object(
      {
        schemas: { type: 'array', items: text, contains: { const: searchRequestUrn } },
        attributes: { type: 'array', items: text },
        excludedAttributes: { type: 'array', items: text },
        filter: text,
        sortBy: text,
        sortOrder: { enum: ['ascending', 'descending'] },
        startIndex: { type: 'integer' },
        count: { type: 'integer' },
        cursor: text,
      },
      'attributes',
      'excludedAttributes',
      'filter',
      'sortBy',
      'sortOrder',
      'startIndex',
      'count',
      'cursor',
    ),
  },
  ServiceProviderConfig: {
    description: 'RFC 7643 §5 and RFC 9865 §4.',
    ...object({
      schemas: { const: [`${core}:ServiceProviderConfig`] },
      patch: object({ supported: truth, maxOperations: amount }),
      bulk: object({ supported: truth, maxOperations: amount, maxPayloadSize: amount }),
      filter: object({ supported: truth, maxResults: amount }),
      changePassword: supported,
      sort: supported,
      etag: supported,
      pagination: object({
        cursor: truth,
        index: truth,
        defaultPaginationMethod: { enum: ['index'] },
        defaultPageSize: amount,
        maxPageSize: amount,
        cursorTimeout: amount,
      }),
      authenticationSchemes: {
        type: 'array',
        items: object({ type: text, name: text, description: text, specUri: text, primary: truth }),
      },
      meta: metaOfDiscovery,
    }),
  },
  ResourceType: {
    description: 'RFC 7643 §6.',
    ...object({
      schemas: { const: [`${core}:ResourceType`] },
      id: text,
      name: text,
      endpoint: text,
      description: text,
      schema: text,
      schemaExtensions: { type: 'array', items: object({ schema: text, required: truth }) },
      meta: metaOfDiscovery,
    }),
  },
  Schema: {
    description: 'RFC 7643 §7.',
    ...object({
      schemas: { const: [`${core}:Schema`] },
      id: text,
      name: text,
      description: text,
      attributes: { type: 'array', items: schemaRef('Attribute') },
      meta: metaOfDiscovery,
    }),
  },
  Attribute: {
    description: 'RFC 7643 §7.',
    ...object(
      {
        name: text,
        type: {
          enum: ['string', 'boolean', 'decimal', 'integer', 'dateTime', 'binary', 'reference', 'complex'],
        },
        multiValued: truth,
        description: text,
        required: truth,
        caseExact: truth,
        mutability: { enum: ['readOnly', 'readWrite', 'immutable', 'writeOnly'] },
        returned: { enum: ['always', 'never', 'default', 'request'] },
        uniqueness: { enum: ['none', 'server', 'global'] },
        canonicalValues: { type: 'array', items: text },
        referenceTypes: { type: 'array', items: text },
        subAttributes: { type: 'array', items: schemaRef('Attribute') },
      },
      'canonicalValues',
      'referenceTypes',
      'subAttributes',
    ),
  },
};

function query(name: string, description: string, schema: { type: 'string' | 'integer' }): Parameter {
  return { name, in: 'query', description, schema };
}

const parameters: Readonly<Record<string, Parameter>> = {
  ResourceId: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'Identifier of the resource.',
    schema: { type: 'string' },
  },
  Filter: query('filter', 'Which resources (RFC 7644 §3.4.2.2).', { type: 'string' }),
  SortBy: query(
    'sortBy',
    'Attribute to sort by (RFC 7644 §3.4.2.3): of several values the primary or first one counts. Resources without a value come last, or first when the order is descending. One that the resources do not have, or never show, is refused with invalidPath.',
    { type: 'string' },
  ),
  SortOrder: query(
    'sortOrder',
    '"ascending", which is the default, or "descending"; letter case is ignored.',
    {
      type: 'string',
    },
  ),
  Cursor: query(
    'cursor',
    'Empty for the first page, then nextCursor of the page before, with the same filter, order and count (RFC 9865).',
    { type: 'string' },
  ),
  StartIndex: query('startIndex', 'Number of the first one, from 1; less counts as 1.', { type: 'integer' }),
  Count: query(
    'count',
    'How many at most; less than 0 counts as 0, and the service has a limit of its own.',
    {
      type: 'integer',
    },
  ),
  Attributes: query('attributes', 'Names of the attributes to show, with commas (RFC 7644 §3.9).', {
    type: 'string',
  }),
  ExcludedAttributes: query(
    'excludedAttributes',
    'Names of attributes to leave out, with commas (RFC 7644 §3.9).',
    { type: 'string' },
  ),
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Entity tags; the change is made only to one of these versions.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'Entity tags; a resource of one of these versions is not sent again, and not changed.',
    schema: { type: 'string' },
  },
};
