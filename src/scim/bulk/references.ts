import type { PatchOperation } from '../../resource/patch-operation.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../resource/value.ts';

/** What an operation brings, decoded and mended: a resource (POST, PUT) or changes (PATCH). */
export type Content =
  | { readonly kind: 'resource'; readonly resource: ScimObject }
  | { readonly kind: 'changes'; readonly operations: readonly PatchOperation[] }
  | { readonly kind: 'nothing' };

/** What to write where `bulkId:xyz` stands. */
export type Replace = (bulkId: string) => string;

const referenceForm = /^bulkId:(.+)$/is;
/** An attribute that refers to resources, by itself, behind a URN, or with a sub-attribute or filter behind it. */
const referringName = /(?:^|:)(?:members|manager)(?:$|[.[])/i;
const quotedReference = /"bulkId:(?:[^"\\]|\\.)+"/gi;

/** The bulkId that a text refers to (RFC 7644 §3.7.2), undefined when it refers to none. */
export function bulkIdOf(text: string): string | undefined {
  return referenceForm.exec(text)?.[1];
}

/** A bulkId for a sentence: a client may have made it of any length. */
export function shownBulkId(bulkId: string): string {
  return bulkId.slice(0, 80).toWellFormed();
}

/** Every bulkId that the content refers to, once. */
export function referencesIn(content: Content): string[] {
  const found = new Set<string>();
  replaceReferences(content, (bulkId) => {
    found.add(bulkId);
    return '';
  });
  return [...found];
}

/**
 * The content with ids for bulkIds, wherever a resource is referred to: in `members` and `manager`, in values and in
 * the filters of paths. A text that only looks like it, in another attribute, stays.
 */
export function replaceReferences(content: Content, replace: Replace): Content {
  if (content.kind === 'nothing') return content;
  if (content.kind === 'resource') {
    return { kind: 'resource', resource: replaceInObject(content.resource, false, replace) };
  }
  return { kind: 'changes', operations: content.operations.map((each) => replaceInOperation(each, replace)) };
}

function replaceInOperation(operation: PatchOperation, replace: Replace): PatchOperation {
  const { path, value } = operation;
  const isReferring = path !== undefined && referringName.test(path);
  return {
    ...operation,
    ...(isReferring ? { path: replaceInPath(path, replace) } : {}),
    ...(value === undefined ? {} : { value: replaceInValue(value, isReferring, replace) }),
  };
}

/** `members[value eq "bulkId:ann"]` */
function replaceInPath(path: string, replace: Replace): string {
  return path.replaceAll(quotedReference, (quoted) => {
    const bulkId = bulkIdOf(readQuoted(quoted));
    return bulkId === undefined ? quoted : JSON.stringify(replace(bulkId));
  });
}

function readQuoted(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    // Escapes that JSON does not have: the filter is refused for them when it is read.
    return '';
  }
}

function replaceInValue(value: ScimValue, isReference: boolean, replace: Replace): ScimValue {
  if (typeof value === 'string') {
    const bulkId = isReference ? bulkIdOf(value) : undefined;
    return bulkId === undefined ? value : replace(bulkId);
  }
  if (isArray(value)) return value.map((element) => replaceInValue(element, isReference, replace));
  return isObject(value) ? replaceInObject(value, isReference, replace) : value;
}

/** Inside a reference only its `value` is the id; `display` and the like are texts. */
function replaceInObject(object: ScimObject, isReference: boolean, replace: Replace): ScimObject {
  const entries = Object.entries(object).map(([name, value]) => {
    const isId = isReference ? name.toLowerCase() === 'value' : referringName.test(name);
    return [name, replaceInValue(value, isId, replace)];
  });
  return Object.fromEntries(entries);
}
