import type { PatchOperation } from './patch-operation.ts';
import { parsePath } from './path.ts';
import { findAttribute, findExtension, type ResourceType } from './schema.ts';
import { hasNoKeys, isObject, type ScimValue } from './value.ts';

export interface ExpandedOperations {
  readonly operations: readonly PatchOperation[];
  /** The keys that became operations of their own: the repair `dotted-key`. */
  readonly expanded: readonly string[];
}

/**
 * Splits a path-less add or replace whose value has keys in path notation (`name.givenName`, `urn:…:User:department`,
 * `emails[type eq "work"].value`; Entra with aadOptscim062020) into operations with that path, in the order of the
 * keys. Any other operation comes back as it is, and so does a key that is no path at all.
 */
export function expandKeys(resourceType: ResourceType, operation: PatchOperation): ExpandedOperations {
  const { op, path, value } = operation;
  if (path !== undefined || op === 'remove' || !isObject(value))
    return { operations: [operation], expanded: [] };
  const plain: Record<string, ScimValue> = {};
  const withPath: PatchOperation[] = [];
  for (const key of Object.keys(value)) {
    const member = value[key] ?? null;
    if (isPathKey(resourceType, key)) withPath.push({ op, path: key, value: member });
    else plain[key] = member;
  }
  if (withPath.length === 0) return { operations: [operation], expanded: [] };
  const expanded = withPath.flatMap((each) => each.path ?? []);
  const first = hasNoKeys(plain) ? [] : [{ op, value: plain }];
  return { operations: [...first, ...withPath], expanded };
}

/** Whether the key says where the value goes by more than a name: by a dot, brackets, or an attribute behind a URN. */
function isPathKey(resourceType: ResourceType, key: string): boolean {
  if (!/[.:[]/.test(key)) return false;
  if (findAttribute(resourceType, key) !== undefined || findExtension(resourceType, key) !== undefined)
    return false;
  return isPath(key);
}

function isPath(key: string): boolean {
  try {
    parsePath(key);
    return true;
  } catch {
    return false;
  }
}
