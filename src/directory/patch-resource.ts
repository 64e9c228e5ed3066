import { applyPatch, type PatchOptions, type PatchResult } from '../resource/patch.ts';
import type { PatchOperation } from '../resource/patch-operation.ts';
import { resolvePath } from '../resource/path.ts';
import { enterpriseUserUrn, type ResourceType } from '../resource/schema.ts';
import type { ScimObject } from '../resource/value.ts';

/**
 * PATCH on a stored resource. `active` cannot be taken away: removed or empty, it stays as it was, so that nobody is
 * activated by silence, as by a PUT (an identity provider sends an empty value for one that it does not know). Its id, which is not stored with it, is there while the operations run: an id that is
 * echoed unchanged (Okta sends it with every rename of a group) is then told from one that somebody tries to change.
 */
export function patchResource(
  resourceType: ResourceType,
  { id, resource }: { readonly id: number; readonly resource: ScimObject },
  operations: readonly PatchOperation[],
  options: PatchOptions,
): PatchResult {
  const result = applyPatch(resourceType, { id: String(id), ...resource }, operations, options);
  const { id: _id, ...rest } = result.resource;
  const { active } = resource;
  const isKept = rest.active === undefined && active !== undefined;
  return { ...result, resource: isKept ? { ...rest, active } : rest };
}

/** Whether the operation takes the manager away by name, alone or with the whole enterprise extension. */
export function removesManager(userType: ResourceType, { op, path, value }: PatchOperation): boolean {
  const isEmpty = value === undefined || value === null || value === '';
  if (path === undefined || (op !== 'remove' && !isEmpty)) return false;
  const target = resolvePath(userType, path, { bareExtensionNames: true });
  if (target.kind === 'extension') return target.extension.schema.id === enterpriseUserUrn;
  return target.kind === 'attribute' && target.attribute.path === `${enterpriseUserUrn}:manager`;
}
