import { DomainError } from '../../errors.ts';
import { refusalOf } from '../../http/refusal.ts';
import {
  type BulkMembers,
  type BulkMethod,
  type BulkOperation,
  readBulkMembers,
  toBulkOperation,
} from '../../resource/bulk-request.ts';
import type { ScimValue } from '../../resource/value.ts';
import { newTrace, type ScimCall, type Trace } from '../call.ts';
import { mendBulkMembers, mendPatchData } from '../repairs/bulk.ts';
import type { AllVerbs } from '../verbs.ts';
import { type BulkTarget, readBulkPath } from './path.ts';
import { type Content, referencesIn } from './references.ts';

/** A change that was understood: everything but the ids of what the same request creates. */
export interface Change {
  readonly method: BulkMethod;
  readonly target: BulkTarget;
  readonly ifMatch: string | undefined;
  readonly content: Content;
  /** The bulkIds that `content` refers to. */
  readonly references: readonly string[];
}

export interface Prepared {
  /** Where it stands in the request, from 1. */
  readonly number: number;
  /** As the client will see it again; undefined when it was no text. */
  readonly method: string | undefined;
  readonly bulkId: string | undefined;
  readonly path: string | undefined;
  readonly trace: Trace;
  /** The change, or why there is none. */
  readonly change: Change | DomainError;
}

/** Reads one operation, as the single request for which it stands would be read. Never throws. */
export function prepare(
  call: ScimCall,
  verbs: AllVerbs,
  { operation, number }: { readonly operation: ScimValue; readonly number: number },
): Prepared {
  const trace = newTrace();
  const own = { ...call, trace };
  let members: BulkMembers = {};
  let change: Change | DomainError;
  try {
    members = readBulkMembers(operation);
    if (call.isCompat) members = mendBulkMembers(members, trace.repairs);
    change = toChange(own, verbs, toBulkOperation(members));
  } catch (error) {
    change = refusalOf(error);
  }
  const { method, bulkid, path } = members;
  return { number, method: text(method), bulkId: text(bulkid), path: text(path), trace, change };
}

function text(value: ScimValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function toChange(call: ScimCall, verbs: AllVerbs, operation: BulkOperation): Change {
  const { method, version } = operation;
  const target = readBulkPath(operation.path, call.base);
  checkMethod(method, target);
  const content = toContent(call, verbs, { operation, target });
  return { method, target, ifMatch: version, content, references: referencesIn(content) };
}

/** RFC 7644 §3.7: POST takes an endpoint, the others take one resource. */
function checkMethod(method: BulkMethod, { type, id }: BulkTarget): void {
  if ((method === 'POST') === (id === undefined)) return;
  const allow = id === undefined ? ['POST'] : ['PUT', 'PATCH', 'DELETE'];
  const place = id === undefined ? `/${type}s` : `/${type}s/{id}`;
  throw new DomainError('methodNotAllowed', `In a Bulk the path ${place} takes ${allow.join(', ')}.`, {
    allow,
  });
}

function toContent(
  call: ScimCall,
  all: AllVerbs,
  { operation, target }: { readonly operation: BulkOperation; readonly target: BulkTarget },
): Content {
  const { method, data } = operation;
  const verbs = all[target.type];
  if (method === 'DELETE') return { kind: 'nothing' };
  if (method === 'PATCH') {
    const message = call.isCompat ? mendPatchData(data, call.trace.repairs) : data;
    return { kind: 'changes', operations: verbs.readPatch(call, message) };
  }
  const resource = verbs.readResource(call, data, method === 'POST' ? 'create' : 'replace');
  return { kind: 'resource', resource };
}
