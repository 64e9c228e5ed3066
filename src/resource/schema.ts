// Schemas and resource types, compiled once into lookups without case; the lead file of the resource model.
// Never reads or writes a resource, never touches a database or HTTP: everything in this folder is pure.
// Renders RFC 7643 §3.1 (common attributes), §6 (ResourceType), §7 (Schema); URNs of service-description.md §2.

import { canonicalKey } from './canonical-key.ts';
import {
  commonAttributes,
  coreGroupSchema,
  coreUserSchema,
  enterpriseUserSchema,
  platformGroupSchema,
  platformUserSchema,
} from './schema-documents.ts';

export type AttributeType =
  | 'string'
  | 'boolean'
  | 'decimal'
  | 'integer'
  | 'dateTime'
  | 'binary'
  | 'reference'
  | 'complex';
export type Mutability = 'readOnly' | 'readWrite' | 'immutable' | 'writeOnly';
export type Returned = 'always' | 'never' | 'default' | 'request';
export type Uniqueness = 'none' | 'server' | 'global';

/** An attribute as /Schemas publishes it (RFC 7643 §7). */
export interface Attribute {
  readonly name: string;
  readonly type: AttributeType;
  readonly multiValued: boolean;
  readonly description: string;
  readonly required: boolean;
  readonly caseExact: boolean;
  readonly mutability: Mutability;
  readonly returned: Returned;
  readonly uniqueness: Uniqueness;
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly Attribute[];
}

/** A schema document as /Schemas publishes it, without `meta` (RFC 7643 §7). */
export interface Schema {
  readonly schemas: readonly string[];
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly Attribute[];
}

/** An attribute compiled for look-ups: what it is, where it lives, and its sub-attributes by name. */
export interface AttributeDefinition extends Attribute {
  /** URN of the schema that defines it; '' for the common attributes of RFC 7643 §3.1. */
  readonly schema: string;
  /** URN under which its value lives in the document; undefined for core and common attributes. */
  readonly extension: string | undefined;
  /** Notation of RFC 7644 §3.10, for messages: `emails.value`, `urn:…:User:manager.value`. */
  readonly path: string;
  readonly parent: AttributeDefinition | undefined;
  /** Sub-attributes by canonical and by lower-case name: use `findChild`. */
  readonly children: ReadonlyMap<string, AttributeDefinition>;
  /** Whether it names something that people pick from lists and compare by eye: no control characters. */
  readonly isName: boolean;
  /** The only accepted values, canonical spelling by `canonicalKey`; undefined when any value is. */
  readonly closedValues: ReadonlyMap<string, string> | undefined;
}

export interface ExtensionDefinition {
  readonly schema: Schema;
  /** Its attributes by canonical and by lower-case name. */
  readonly attributes: ReadonlyMap<string, AttributeDefinition>;
  /** Attributes that must be there when the resource has anything of this extension. */
  readonly required: readonly AttributeDefinition[];
}

export type ResourceTypeName = 'User' | 'Group';

/** A resource type (RFC 7643 §6) with everything that is looked up at run time, compiled once. */
export interface ResourceType {
  readonly name: ResourceTypeName;
  /** `/Users` or `/Groups`, relative to the base address. */
  readonly endpoint: string;
  readonly description: string;
  readonly schema: Schema;
  readonly extensions: readonly Schema[];
  /** Common and core attributes by canonical and by lower-case name. */
  readonly attributes: ReadonlyMap<string, AttributeDefinition>;
  /** Extensions by canonical and by lower-case URN. */
  readonly extensionsByUrn: ReadonlyMap<string, ExtensionDefinition>;
  /** Attributes that only one extension has and core has not, by lower-case name. */
  readonly bareExtensionNames: ReadonlyMap<string, AttributeDefinition>;
  /** Attributes that every resource must have. */
  readonly required: readonly AttributeDefinition[];
}

export interface ResourceTypeOptions {
  /** Schema of the additional fields, from `additionalFieldsSchema`; User only. */
  readonly additionalFields?: Schema;
  /** The accepted values of `userType`; default: `standardUserTypes`. */
  readonly userTypes?: readonly string[];
}

export const coreUserUrn = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const coreGroupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const enterpriseUserUrn = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const platformUserUrn = 'urn:ietf:params:scim:schemas:extension:platform:2.0:User';
export const platformGroupUrn = 'urn:ietf:params:scim:schemas:extension:platform:2.0:Group';
export const additionalFieldsUrn = 'urn:ietf:params:scim:schemas:extension:platformadditionalfields:2.0:User';

/** The types of people that every installation has; someone of whom nothing is said is of the second. */
export const standardUserTypes = ['Power User', 'Intranet User', 'Non Intranet User'] as const;
export const defaultUserType = standardUserTypes[1];

/** Lists that are not mere suggestions (RFC 7643 §7, canonicalValues): other values are refused. */
const closedLists: ReadonlySet<string> = new Set([
  'userType',
  `${platformUserUrn}:loginType`,
  `${platformGroupUrn}:groupType`,
]);

/** The names of people and groups, and the attributes that make groups by naming them. */
const names: ReadonlySet<string> = new Set([
  `${coreUserUrn}:userName`,
  `${coreGroupUrn}:displayName`,
  `${enterpriseUserUrn}:organization`,
  `${enterpriseUserUrn}:department`,
  `${platformUserUrn}:company`,
  `${platformUserUrn}:location`,
]);

/** Compiles the resource type; call it once, and again when the additional fields change. */
export function buildResourceType(name: ResourceTypeName, options: ResourceTypeOptions = {}): ResourceType {
  const isUser = name === 'User';
  const schema = isUser ? withUserTypes(coreUserSchema, options.userTypes) : coreGroupSchema;
  const extensions = isUser ? userExtensions(options.additionalFields) : [platformGroupSchema];
  const attributes = new Map<string, AttributeDefinition>();
  for (const attribute of commonAttributes) addDefinition(attributes, define(attribute, '', undefined));
  for (const attribute of schema.attributes)
    addDefinition(attributes, define(attribute, schema.id, undefined));
  const extensionsByUrn = compileExtensions(extensions);
  return {
    name,
    endpoint: isUser ? '/Users' : '/Groups',
    description: schema.description,
    schema,
    extensions,
    attributes,
    extensionsByUrn,
    bareExtensionNames: compileBareNames(attributes, extensionsByUrn),
    required: requiredOf(attributes),
  };
}

function userExtensions(additionalFields: Schema | undefined): readonly Schema[] {
  const fixed = [enterpriseUserSchema, platformUserSchema];
  return additionalFields === undefined ? fixed : [...fixed, additionalFields];
}

function withUserTypes(schema: Schema, userTypes: readonly string[] | undefined): Schema {
  if (userTypes === undefined) return schema;
  const attributes = schema.attributes.map((attribute) =>
    attribute.name === 'userType' ? { ...attribute, canonicalValues: userTypes } : attribute,
  );
  return { ...schema, attributes };
}

function compileExtensions(extensions: readonly Schema[]): ReadonlyMap<string, ExtensionDefinition> {
  const byUrn = new Map<string, ExtensionDefinition>();
  for (const schema of extensions) {
    const attributes = new Map<string, AttributeDefinition>();
    for (const attribute of schema.attributes) {
      addDefinition(attributes, define(attribute, schema.id, schema.id));
    }
    const extension = { schema, attributes, required: requiredOf(attributes) };
    byUrn.set(schema.id, extension).set(schema.id.toLowerCase(), extension);
  }
  return byUrn;
}

function compileBareNames(
  core: ReadonlyMap<string, AttributeDefinition>,
  extensions: ReadonlyMap<string, ExtensionDefinition>,
): ReadonlyMap<string, AttributeDefinition> {
  const bare = new Map<string, AttributeDefinition>();
  const ambiguous = new Set<string>();
  for (const definition of [...new Set(extensions.values())].flatMap((each) => [
    ...new Set(each.attributes.values()),
  ])) {
    const name = definition.name.toLowerCase();
    if (core.has(name) || ambiguous.has(name)) continue;
    if (bare.delete(name)) ambiguous.add(name);
    else bare.set(name, definition);
  }
  return bare;
}

function requiredOf(attributes: ReadonlyMap<string, AttributeDefinition>): readonly AttributeDefinition[] {
  return [...new Set(attributes.values())].filter((attribute) => attribute.required);
}

function define(
  attribute: Attribute,
  schema: string,
  extension: string | undefined,
  parent?: AttributeDefinition,
): AttributeDefinition {
  const prefix = parent === undefined ? (extension === undefined ? '' : `${extension}:`) : `${parent.path}.`;
  const path = prefix + attribute.name;
  const children = new Map<string, AttributeDefinition>();
  const closedValues = closedLists.has(path) ? closedValuesOf(attribute) : undefined;
  const isName = parent === undefined && names.has(`${schema}:${attribute.name}`);
  const definition = { ...attribute, schema, extension, path, parent, children, isName, closedValues };
  for (const child of attribute.subAttributes ?? []) {
    addDefinition(children, define(child, schema, extension, definition));
  }
  return definition;
}

function addDefinition(map: Map<string, AttributeDefinition>, definition: AttributeDefinition): void {
  map.set(definition.name, definition).set(definition.name.toLowerCase(), definition);
}

function closedValuesOf(attribute: Attribute): ReadonlyMap<string, string> {
  return new Map((attribute.canonicalValues ?? []).map((value) => [canonicalKey(value), value]));
}

/** The core or common attribute of that name, or with `extensionUrn` the extension's; letter case is ignored. */
export function findAttribute(
  resourceType: ResourceType,
  name: string,
  extensionUrn?: string,
): AttributeDefinition | undefined {
  const attributes =
    extensionUrn === undefined
      ? resourceType.attributes
      : findExtension(resourceType, extensionUrn)?.attributes;
  return attributes?.get(name) ?? attributes?.get(name.toLowerCase());
}

export function findExtension(resourceType: ResourceType, urn: string): ExtensionDefinition | undefined {
  return resourceType.extensionsByUrn.get(urn) ?? resourceType.extensionsByUrn.get(urn.toLowerCase());
}

export function findChild(attribute: AttributeDefinition, name: string): AttributeDefinition | undefined {
  return attribute.children.get(name) ?? attribute.children.get(name.toLowerCase());
}

/** The extension attribute that a bare name can only mean (Entra writes `department`), or undefined. */
export function findBareExtensionAttribute(
  resourceType: ResourceType,
  name: string,
): AttributeDefinition | undefined {
  return resourceType.bareExtensionNames.get(name.toLowerCase());
}
