import { DomainError } from '../errors.ts';
import { type NormaliseMode, normaliseResource } from '../resource/normalise.ts';
import { atOperation, type PatchOperation, readPatchOp } from '../resource/patch-operation.ts';
import { toId } from '../resource/resource-id.ts';
import type { ResourceType } from '../resource/schema.ts';
import { isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import type { ScimCall } from './call.ts';
import { mendPatchData } from './repairs/bulk.ts';
import { resourceFits } from './repairs/fitting.ts';
import { mendOperation, mendOpNames } from './repairs/operations.ts';
import { mendSchemas, requireSchemas, schemasFit } from './repairs/schemas.ts';
import { mendResource } from './repairs/value-repair.ts';

export interface DecodeOptions {
  readonly resourceType: ResourceType;
  readonly mode: NormaliseMode;
}

/** JSON → repairs → strict resource. After this nothing knows what the client got wrong; the trace does. */
export function decodeResource(
  call: ScimCall,
  body: ScimValue,
  { resourceType, mode }: DecodeOptions,
): ScimObject {
  const { repairs, decoded } = call.trace;
  const former = repairs.length;
  const mended = mendBody(call, resourceType, body);
  if (repairs.length > former) decoded.push(mended);
  const { resource, ignored } = normaliseResource(resourceType, mended, mode);
  call.trace.ignored.push(...ignored);
  return resource;
}

function mendBody(call: ScimCall, resourceType: ResourceType, body: ScimValue): ScimValue {
  if (!isObject(body)) return body;
  if (call.isCompat) {
    const { repairs } = call.trace;
    if (schemasFit(resourceType, body) && resourceFits(resourceType, body)) return body;
    return mendResource(resourceType, mendSchemas(resourceType, body, repairs), repairs);
  }
  requireSchemas(resourceType, body);
  return body;
}

/** JSON → envelope → repairs → strict operations (RFC 7644 §3.5.2). */
export function decodePatch(
  call: ScimCall,
  body: ScimValue,
  resourceType: ResourceType,
): readonly PatchOperation[] {
  if (!call.isCompat) return readPatchOp(body);
  const { repairs, decoded } = call.trace;
  const former = repairs.length;
  const read = readPatchOp(mendOpNames(mendPatchData(body, repairs), repairs), { removeWithValue: true });
  const operations = read.flatMap((operation, index) => {
    const origin = { number: index + 1, of: read.length };
    const mended = atOperation(origin, () => mendOperation(resourceType, operation, repairs));
    return mended.map((each) => ({ ...each, origin }));
  });
  if (repairs.length > former) decoded.push(operations.map(({ origin: _origin, ...operation }) => operation));
  return operations;
}

/** What the PATCH engine may do beyond RFC 7644 for this source. */
export function patchOptions(call: ScimCall) {
  return { createForValuePath: call.isCompat, bareExtensionNames: call.isCompat } as const;
}

const idCharactersShownMax = 50;

/** The number behind an id in a path. Throws `notFound` for what no resource can be called. */
export function toResourceId(text: string): number {
  const id = toId(text);
  if (id > 0) return id;
  const shown = text.slice(0, idCharactersShownMax).toWellFormed();
  const hint = /^\d+$/.test(text) ? '' : '; ids are whole numbers';
  throw new DomainError('notFound', `There is no resource with the id "${shown}"${hint}.`);
}
