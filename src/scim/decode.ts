import { type NormaliseMode, normaliseResource } from '../resource/normalise.ts';
import { type PatchOperation, readPatchOp } from '../resource/patch-operation.ts';
import type { ResourceType } from '../resource/schema.ts';
import { isObject, type ScimObject } from '../resource/value.ts';
import { readScimBody } from './body.ts';
import type { ScimCall } from './call.ts';
import { mendOperation, mendOpNames } from './repairs/operations.ts';
import { mendResource } from './repairs/value-repair.ts';

/**
 * bytes → JSON → repairs → strict resource. After this nothing knows what the client got wrong; the trace does.
 */
export async function decodeResource(
  request: Request,
  call: ScimCall,
  resourceType: ResourceType,
  mode: NormaliseMode,
): Promise<ScimObject> {
  const body = await readScimBody(request, call);
  const mended =
    call.isCompat && isObject(body) ? mendResource(resourceType, body, call.trace.repairs) : body;
  const { resource, ignored } = normaliseResource(resourceType, mended, mode);
  call.trace.ignored.push(...ignored);
  return resource;
}

/** bytes → JSON → envelope → repairs → strict operations (RFC 7644 §3.5.2). */
export async function decodePatch(
  request: Request,
  call: ScimCall,
  resourceType: ResourceType,
): Promise<readonly PatchOperation[]> {
  const body = await readScimBody(request, call);
  if (!call.isCompat) return readPatchOp(body);
  const { repairs } = call.trace;
  const operations = readPatchOp(mendOpNames(body, repairs), { removeWithValue: true });
  return operations.flatMap((operation) => mendOperation(resourceType, operation, repairs));
}

/** What the PATCH engine may do beyond RFC 7644 for this source. */
export function patchOptions(call: ScimCall) {
  return { createForValuePath: call.isCompat, bareExtensionNames: call.isCompat } as const;
}

const idForm = /^[1-9]\d{0,14}$/;

/** The number behind an id in a path; 0, which no resource has, for anything but its plain form. */
export function toResourceId(text: string): number {
  return idForm.test(text) ? Number(text) : 0;
}
