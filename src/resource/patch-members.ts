import { DomainError } from '../errors.ts';
import { isCoreUrn } from './attribute-lookup.ts';
import { writeMember } from './document.ts';
import type { ResolvedFilter } from './filter-resolve.ts';
import { invalidValue, NormaliseTally, normaliseSingle, wrongType } from './normalise-value.ts';
import { atOperation, type PatchOperation } from './patch-operation.ts';
import { type PathTarget, parsePath, resolvePath } from './path.ts';
import { type AttributeDefinition, findAttribute, type ResourceType } from './schema.ts';
import { hasNoKeys, isArray, isObject, type ScimObject, type ScimValue } from './value.ts';

/** A Group PATCH as an ordered list: changes of the document, and changes of the membership rows. */
export type GroupPatchStep = { readonly kind: 'document'; readonly operation: PatchOperation } | MembersStep;

/**
 * `replace` with no values empties the group; `clear` is `remove` of `members` without filter. Values are unique. A filter
 * is about the parts of a member.
 */
export type MembersStep =
  | {
      readonly kind: 'members';
      readonly action: 'add' | 'remove' | 'replace' | 'clear';
      readonly values: readonly string[];
    }
  | { readonly kind: 'members'; readonly action: 'removeWhere'; readonly filter: ResolvedFilter };

/**
 * Takes what concerns `members` out of a Group PATCH: they are rows, never part of the document (RFC 7644 §3.5.2).
 * Throws like applyPatch: `invalidPath`, `invalidFilter`, `mutability`, `invalidValue`.
 */
export function splitMembers(
  resourceType: ResourceType,
  operations: readonly PatchOperation[],
): readonly GroupPatchStep[] {
  const members = findAttribute(resourceType, 'members');
  if (members === undefined) return operations.map((operation) => ({ kind: 'document', operation }));
  const tally = new NormaliseTally();
  return operations.flatMap((operation, index) => {
    const { origin = { number: index + 1, of: operations.length } } = operation;
    return atOperation(origin, () => splitOperation(resourceType, { members, operation, tally }));
  });
}

interface SplitContext {
  readonly members: AttributeDefinition;
  readonly operation: PatchOperation;
  readonly tally: NormaliseTally;
}

function splitOperation(resourceType: ResourceType, context: SplitContext): readonly GroupPatchStep[] {
  const { members, operation } = context;
  if (operation.path === undefined || isCoreUrn(resourceType, operation.path)) return splitPathless(context);
  const { attribute } = parsePath(operation.path);
  const isMembers = attribute.name.toLowerCase() === 'members';
  const target = isMembers ? resolvePath(resourceType, operation.path) : undefined;
  if (target?.kind !== 'attribute' || target.attribute !== members) return [{ kind: 'document', operation }];
  return target.filter === undefined && target.subAttribute === undefined
    ? [wholeStep(context)]
    : filteredSteps(target, context);
}

/** `{"op":"add","value":{"displayName":"A","members":[…]}}`: the rest stays an operation of the document. */
function splitPathless(context: SplitContext): readonly GroupPatchStep[] {
  const { operation } = context;
  const { op, value } = operation;
  const keys = isObject(value) ? Object.keys(value).filter((key) => key.toLowerCase() === 'members') : [];
  const [key, double] = keys;
  if (!isObject(value) || key === undefined || op === 'remove') return [{ kind: 'document', operation }];
  if (double !== undefined)
    throw new DomainError('invalidSyntax', 'The attribute members is given twice; give it once.');
  const rest = writeMember(value, key, undefined);
  const step = wholeStep({ ...context, operation: { op, value: value[key] ?? null } });
  return hasNoKeys(rest) ? [step] : [{ kind: 'document', operation: { ...operation, value: rest } }, step];
}

function wholeStep({ members, operation, tally }: SplitContext): MembersStep {
  const { op, value } = operation;
  if (op === 'remove' && value === undefined) return { kind: 'members', action: 'clear', values: [] };
  return { kind: 'members', action: op, values: readValues(members, { op, value: value ?? null, tally }) };
}

function filteredSteps(
  target: PathTarget & { kind: 'attribute' },
  { members, operation }: SplitContext,
): readonly GroupPatchStep[] {
  if (target.subAttribute !== undefined || target.filter === undefined || operation.op !== 'remove') {
    const detail = `Members are not changed in place (path "${operation.path}"); remove the one and add the other.`;
    throw new DomainError('mutability', detail, { attribute: members.path });
  }
  const values = namedValues(target.filter);
  return values === undefined
    ? [{ kind: 'members', action: 'removeWhere', filter: target.filter }]
    : [{ kind: 'members', action: 'remove', values: [...new Set(values)] }];
}

/** Of `value eq "…"`, one or several or-ed: who is meant by name. Undefined for any other filter. */
function namedValues(filter: ResolvedFilter): readonly string[] | undefined {
  if (filter.kind === 'or') {
    const lists = filter.terms.map(namedValues);
    return lists.every((list) => list !== undefined) ? lists.flat() : undefined;
  }
  const isByValue =
    filter.kind === 'compare' && filter.operator === 'eq' && filter.target.attribute.name === 'value';
  return isByValue && filter.literal.kind === 'string' ? [filter.literal.text] : undefined;
}

interface MemberValues {
  readonly op: PatchOperation['op'];
  readonly value: ScimValue;
  readonly tally: NormaliseTally;
}

function readValues(members: AttributeDefinition, { op, value, tally }: MemberValues): readonly string[] {
  if (value === null || value === '') return [];
  if (!isArray(value) && op === 'replace') throw wrongType(members, value);
  const values = new Set<string>();
  for (const element of isArray(value) ? value : [value]) {
    values.add(memberValue(members, normaliseSingle(members, element, tally)));
  }
  return [...values];
}

function memberValue(members: AttributeDefinition, member: ScimValue | undefined): string {
  const { value, type }: ScimObject = member !== undefined && isObject(member) ? member : {};
  if (typeof value !== 'string')
    throw invalidValue(members, 'needs the identifier of each member in "value"');
  if (typeof type === 'string' && type.toLowerCase() !== 'user') {
    throw invalidValue(members, 'can only hold users; leave out members of another type');
  }
  return value;
}

export interface TakenMembers {
  readonly document: ScimObject;
  /** undefined when the body said nothing of members. Values are unique. */
  readonly members: readonly string[] | undefined;
}

/** Takes `members` out of a normalised Group. Throws `invalidValue` for one without `value` or of another type. */
export function takeMembers(resourceType: ResourceType, group: ScimObject): TakenMembers {
  const members = findAttribute(resourceType, 'members');
  const held = group.members;
  if (members === undefined || held === undefined) return { document: group, members: undefined };
  const list = isArray(held) ? held : [];
  return {
    document: writeMember(group, 'members', undefined),
    members: [...new Set(list.map((member) => memberValue(members, member)))],
  };
}
