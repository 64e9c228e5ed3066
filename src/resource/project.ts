// Which attributes an answer shows.
// Never decides what is stored or loaded: `shows` only tells the loader what it may save.
// Renders RFC 7644 §3.4.2.5 and §3.9, and `returned` of RFC 7643 §7.

import { findNamed, type NamedThing } from './attribute-lookup.ts';
import { parsePath } from './path.ts';
import {
  type AttributeDefinition,
  type ExtensionDefinition,
  findAttribute,
  findExtension,
  type ResourceType,
} from './schema.ts';
import { hasNoKeys, isArray, isObject, type ScimObject, type ScimValue } from './value.ts';

export interface ProjectionRequest {
  /** Names in the notation of RFC 7644 §3.10; they replace the default set. */
  readonly attributes?: readonly string[] | undefined;
  /** Names taken out of the default set. */
  readonly excludedAttributes?: readonly string[] | undefined;
  /** Left out unless `attributes` names them: `members` in the list of groups. */
  readonly onlyWhenNamed?: readonly string[] | undefined;
}

/** What an answer shows; compiled once for a request. */
export interface Projection {
  /** True when stored JSON can be served as it is: the request asks for nothing special. */
  readonly isDefault: boolean;
  /** Names that the resource type does not have; they are ignored. */
  readonly unknown: readonly string[];
  /** Whether an attribute (`members`, `groups`, `urn:…:manager`) would be shown at all: saves loading it. */
  shows(attribute: string): boolean;
  apply(resource: ScimObject): ScimObject;
}

/** `schemas`, `id` and whatever else is returned always are in; `password` never is; unknown names are ignored. */
export function buildProjection(resourceType: ResourceType, request: ProjectionRequest = {}): Projection {
  const { attributes, excludedAttributes = [], onlyWhenNamed = [] } = request;
  const unknown: string[] = [];
  const selection: Selection = {
    included: attributes === undefined ? undefined : select(resourceType, attributes, unknown),
    excluded: select(resourceType, excludedAttributes, unknown),
    onlyWhenNamed: select(resourceType, onlyWhenNamed, unknown),
  };
  return {
    isDefault: attributes === undefined && excludedAttributes.length === 0 && onlyWhenNamed.length === 0,
    unknown,
    shows: (name) => {
      const named = findByName(resourceType, name);
      return named?.kind === 'attribute' && isShown(named.attribute, selection);
    },
    apply: (resource) => projectResource(resourceType, resource, selection),
  };
}

/** Splits the query parameter `attributes` or `excludedAttributes` at its commas. */
export function readAttributeNames(text: string | undefined): readonly string[] | undefined {
  const names = text?.split(',').flatMap((name) => name.trim() || []) ?? [];
  return names.length === 0 ? undefined : names;
}

/** By attribute: all of it, or only some sub-attributes. */
type Named = Map<AttributeDefinition, 'all' | Set<AttributeDefinition>>;

interface Selection {
  /** undefined: the default set. */
  readonly included: Named | undefined;
  readonly excluded: Named;
  readonly onlyWhenNamed: Named;
}

function select(resourceType: ResourceType, names: readonly string[], unknown: string[]): Named {
  const selected: Named = new Map();
  for (const name of names) {
    const named = findByName(resourceType, name);
    if (named === undefined) unknown.push(name);
    else if (named.kind === 'attribute') addNamed(selected, named.attribute, named.subAttribute);
    else for (const attribute of attributesOf(resourceType, named)) selected.set(attribute, 'all');
  }
  return selected;
}

function addNamed(
  selected: Named,
  attribute: AttributeDefinition,
  sub: AttributeDefinition | undefined,
): void {
  const held = selected.get(attribute);
  if (sub === undefined || held === 'all') selected.set(attribute, 'all');
  else selected.set(attribute, (held ?? new Set()).add(sub));
}

function findByName(resourceType: ResourceType, name: string): NamedThing | undefined {
  try {
    const { attribute, filter } = parsePath(name);
    return filter === undefined
      ? findNamed(resourceType, attribute, { bareExtensionNames: true })
      : undefined;
  } catch {
    return undefined;
  }
}

/** What the URN of a schema stands for: everything that it defines. */
function attributesOf(
  resourceType: ResourceType,
  named: { kind: 'resource' } | { kind: 'extension'; extension: ExtensionDefinition },
): Iterable<AttributeDefinition> {
  if (named.kind === 'extension') return named.extension.attributes.values();
  return [...resourceType.attributes.values()].filter(({ schema }) => schema === resourceType.schema.id);
}

function isShown(attribute: AttributeDefinition, { included, excluded, onlyWhenNamed }: Selection): boolean {
  if (attribute.returned === 'never') return false;
  if (attribute.returned === 'always') return true;
  if (excluded.get(attribute) === 'all') return false;
  if (included !== undefined) return included.has(attribute);
  return attribute.returned === 'default' && onlyWhenNamed.get(attribute) !== 'all';
}

function projectResource(resourceType: ResourceType, resource: ScimObject, selection: Selection): ScimObject {
  const shown: Record<string, ScimValue> = {};
  for (const [name, value] of Object.entries(resource)) {
    const extension = findExtension(resourceType, name);
    const part =
      extension === undefined
        ? projectAttribute(findAttribute(resourceType, name), value, selection)
        : projectExtension(extension, value, selection);
    if (part !== undefined) shown[name] = part;
  }
  return shown;
}

function projectExtension(
  extension: ExtensionDefinition,
  value: ScimValue,
  selection: Selection,
): ScimObject | undefined {
  if (!isObject(value)) return undefined;
  const shown: Record<string, ScimValue> = {};
  for (const [name, part] of Object.entries(value)) {
    const projected = projectAttribute(extension.attributes.get(name), part, selection);
    if (projected !== undefined) shown[name] = projected;
  }
  return hasNoKeys(shown) ? undefined : shown;
}

function projectAttribute(
  attribute: AttributeDefinition | undefined,
  value: ScimValue,
  selection: Selection,
): ScimValue | undefined {
  if (attribute === undefined || !isShown(attribute, selection)) return undefined;
  if (attribute.type !== 'complex') return value;
  const included = selection.included?.get(attribute);
  const excluded = selection.excluded.get(attribute);
  const hides = (part: AttributeDefinition | undefined): boolean => {
    if (part === undefined || part.returned === 'never') return true;
    if (part.returned === 'always') return false;
    const isNamed = included instanceof Set && included.has(part);
    if (excluded instanceof Set && excluded.has(part)) return true;
    return included instanceof Set ? !isNamed : part.returned === 'request';
  };
  if (isArray(value))
    return unlessEmpty(value.flatMap((element) => projectParts(attribute, element, hides) ?? []));
  return projectParts(attribute, value, hides);
}

function projectParts(
  attribute: AttributeDefinition,
  value: ScimValue,
  hides: (part: AttributeDefinition | undefined) => boolean,
): ScimValue | undefined {
  if (!isObject(value)) return value;
  const shown: Record<string, ScimValue> = {};
  for (const [name, part] of Object.entries(value)) {
    if (!hides(attribute.children.get(name))) shown[name] = part;
  }
  return hasNoKeys(shown) ? undefined : shown;
}

function unlessEmpty(list: readonly ScimValue[]): readonly ScimValue[] | undefined {
  return list.length === 0 ? undefined : list;
}
