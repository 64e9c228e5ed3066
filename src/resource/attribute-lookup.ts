import type { AttributePath } from './filter.ts';
import {
  type AttributeDefinition,
  type ExtensionDefinition,
  findAttribute,
  findBareExtensionAttribute,
  findChild,
  findExtension,
  type ResourceType,
} from './schema.ts';

export interface LookupOptions {
  /** Accepts the bare name of an extension attribute when it can mean only one (Entra's `department`). */
  readonly bareExtensionNames?: boolean;
}

/** What an attribute path names in a resource type. */
export type NamedThing =
  | { readonly kind: 'resource' }
  | { readonly kind: 'extension'; readonly extension: ExtensionDefinition }
  | {
      readonly kind: 'attribute';
      readonly attribute: AttributeDefinition;
      readonly subAttribute: AttributeDefinition | undefined;
      readonly bare: boolean;
    };

/** Resolves RFC 7644 §3.10 notation without case, or gives undefined when the resource type has no such thing. */
export function findNamed(
  resourceType: ResourceType,
  path: AttributePath,
  options: LookupOptions = {},
): NamedThing | undefined {
  if (path.urn !== undefined) {
    // A schema URN ends in ":User", which reads like an attribute of a shorter URN.
    const extension = findExtension(resourceType, path.text);
    if (extension !== undefined) return { kind: 'extension', extension };
    if (isCoreUrn(resourceType, path.text)) return { kind: 'resource' };
  }
  const attribute =
    path.urn === undefined ? findAttribute(resourceType, path.name) : findQualified(resourceType, path);
  if (attribute !== undefined) return withSubAttribute(attribute, path.subName, false);
  if (path.urn !== undefined || options.bareExtensionNames !== true) return undefined;
  const bare = findBareExtensionAttribute(resourceType, path.name);
  return bare === undefined ? undefined : withSubAttribute(bare, path.subName, true);
}

export function isCoreUrn({ schema }: ResourceType, urn: string): boolean {
  return urn === schema.id || urn.toLowerCase() === schema.id.toLowerCase();
}

function findQualified(resourceType: ResourceType, path: AttributePath): AttributeDefinition | undefined {
  const { urn = '', name } = path;
  return findAttribute(resourceType, name, isCoreUrn(resourceType, urn) ? undefined : urn);
}

function withSubAttribute(
  attribute: AttributeDefinition,
  subName: string | undefined,
  bare: boolean,
): NamedThing | undefined {
  if (subName === undefined) return { kind: 'attribute', attribute, subAttribute: undefined, bare };
  const subAttribute = findChild(attribute, subName);
  return subAttribute === undefined ? undefined : { kind: 'attribute', attribute, subAttribute, bare };
}
