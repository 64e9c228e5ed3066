import { type BulkMembers, bulkRequestUrn } from '../../resource/bulk-request.ts';
import { patchOpUrn } from '../../resource/patch-operation.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../resource/value.ts';
import type { Repair } from '../call.ts';

/** The path says that it is a Bulk; clients leave `schemas` of the envelope out. */
export function mendBulkEnvelope(body: ScimValue, repairs: Repair[]): ScimValue {
  return isObject(body) ? withSchemas(body, bulkRequestUrn, repairs) : body;
}

/** Methods in any letter case, and numbers as bulkIds. */
export function mendBulkMembers(members: BulkMembers, repairs: Repair[]): BulkMembers {
  const { method, bulkid } = members;
  return {
    ...members,
    ...(typeof method === 'string' ? { method: mendMethod(method, repairs) } : {}),
    ...(Number.isSafeInteger(bulkid) ? { bulkid: mendNumber(bulkid, repairs) } : {}),
  };
}

function mendMethod(method: string, repairs: Repair[]): string {
  const upper = method.trim().toUpperCase();
  if (upper !== method) repairs.push({ code: 'method-case', what: 'method' });
  return upper;
}

function mendNumber(value: ScimValue | undefined, repairs: Repair[]): string {
  repairs.push({ code: 'text-from-number', what: 'bulkId' });
  return String(value);
}

/**
 * The example of RFC 7644 §3.7.3 has the list of changes itself as the data of a PATCH, and others of its examples leave
 * `schemas` out (erratum 5050): clients were written after them.
 */
export function mendPatchData(data: ScimValue, repairs: Repair[]): ScimValue {
  if (isArray(data)) {
    repairs.push({ code: 'patch-envelope-added', what: 'data' });
    return { schemas: [patchOpUrn], Operations: data };
  }
  return isObject(data) ? withSchemas(data, patchOpUrn, repairs) : data;
}

function withSchemas(message: ScimObject, urn: string, repairs: Repair[]): ScimObject {
  if (Object.keys(message).some((name) => name.toLowerCase() === 'schemas')) return message;
  repairs.push({ code: 'schemas-added', what: urn });
  return { schemas: [urn], ...message };
}
