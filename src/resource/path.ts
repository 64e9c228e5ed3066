// Paths of PATCH operations: text to syntax tree and back, and what they name in a resource type.
// Never changes a resource: that is patch.ts.
// Renders RFC 7644 §3.5.2, Figure 7, and the attribute notation of §3.10.

import { DomainError } from '../errors.ts';
import { findNamed, type LookupOptions } from './attribute-lookup.ts';
import { type AttributePath, type Filter, printFilter, readFilterExpression } from './filter.ts';
import { type ResolvedFilter, resolveElementFilter } from './filter-resolve.ts';
import {
  type AttributeDefinition,
  type ExtensionDefinition,
  findChild,
  type ResourceType,
} from './schema.ts';
import { TextScanner } from './text-scanner.ts';

/** `attribute[filter].subName`; without a filter the sub-attribute is in `attribute.subName`. */
export interface Path {
  readonly text: string;
  readonly attribute: AttributePath;
  readonly filter?: Filter;
  readonly subName?: string;
}

export const pathCharactersMax = 1024;
export const pathFilterDepthMax = 4;

export type PathTarget =
  /** The URN of the core schema alone: the resource itself, as if there were no path. */
  | { readonly kind: 'resource' }
  | { readonly kind: 'extension'; readonly extension: ExtensionDefinition }
  | AttributeTarget;

export interface AttributeTarget {
  readonly kind: 'attribute';
  readonly attribute: AttributeDefinition;
  readonly subAttribute: AttributeDefinition | undefined;
  readonly filter: ResolvedFilter | undefined;
  /** True when the option `bareExtensionNames` was needed. */
  readonly bare: boolean;
}

/** Throws `invalidPath`, also for a filter in the brackets that cannot be read, naming text and position. */
export function parsePath(text: string): Path {
  if (text.length > pathCharactersMax) {
    throw new DomainError(
      'invalidPath',
      `The path is longer than ${pathCharactersMax} characters; shorten it.`,
    );
  }
  const scanner = new TextScanner(text, 'invalidPath');
  const attribute = scanner.attributePath();
  const rest = scanner.take('[') ? readBrackets(scanner) : {};
  if (!scanner.atEnd) throw scanner.refuse('the path should end here');
  return { text, attribute, ...rest };
}

function readBrackets(scanner: TextScanner): { filter: Filter; subName?: string } {
  const filter = readFilterExpression(scanner, { depthMax: pathFilterDepthMax });
  scanner.skipBlanks();
  if (!scanner.take(']')) throw scanner.refuse('"]" is missing');
  return scanner.take('.') ? { filter, subName: scanner.name() } : { filter };
}

/** The canonical text of a path; it reads back as the same path. */
export function printPath(path: Path): string {
  const brackets = path.filter === undefined ? '' : `[${printFilter(path.filter)}]`;
  return `${path.attribute.text}${brackets}${path.subName === undefined ? '' : `.${path.subName}`}`;
}

/** Throws `invalidPath` when the resource type has no such attribute, `invalidFilter` for what the brackets name. */
export function resolvePath(
  resourceType: ResourceType,
  path: Path | string,
  options: LookupOptions = {},
): PathTarget {
  const { text, attribute: written, filter, subName } = typeof path === 'string' ? parsePath(path) : path;
  const named = findNamed(resourceType, written, options);
  if (named === undefined) throw refuse(text, `"${written.text}" is no attribute of ${resourceType.name}`);
  if (named.kind !== 'attribute') {
    if (filter === undefined) return named;
    throw refuse(text, 'a schema cannot be filtered');
  }
  if (filter === undefined) return { ...named, filter: undefined };
  return withFilter(resourceType, { ...named, filter, subName, text });
}

interface FilteredPath {
  readonly attribute: AttributeDefinition;
  readonly subAttribute: AttributeDefinition | undefined;
  readonly bare: boolean;
  readonly filter: Filter;
  readonly subName: string | undefined;
  readonly text: string;
}

function withFilter(resourceType: ResourceType, path: FilteredPath): AttributeTarget {
  const { attribute, subName, text } = path;
  if (path.subAttribute !== undefined || !attribute.multiValued || attribute.type !== 'complex') {
    throw refuse(
      text,
      `${path.subAttribute?.path ?? attribute.path} is not a list of complex values, so it cannot be filtered`,
    );
  }
  const subAttribute = subName === undefined ? undefined : findChild(attribute, subName);
  if (subName !== undefined && subAttribute === undefined) {
    throw refuse(text, `"${subName}" is no sub-attribute of ${attribute.path}`);
  }
  const filter = resolveElementFilter(resourceType, attribute, path.filter);
  return { kind: 'attribute', attribute, subAttribute, filter, bare: path.bare };
}

function refuse(text: string, problem: string): DomainError {
  return new DomainError('invalidPath', `The path "${text}" cannot be used: ${problem}.`, {
    attribute: text,
  });
}
