import { DomainError } from '../../errors.ts';
import type { ResourceTypeName } from '../../resource/schema.ts';
import type { Change, Prepared } from './prepare.ts';
import { shownBulkId } from './references.ts';

/** Users who are each other's manager are created in one transaction, which must not keep others waiting for long. */
export const ringUsersMax = 100;

/** In which order the operations are done. Indexes are those of the list that was planned. */
export interface Plan {
  readonly order: readonly number[];
  /**
   * Users who are created together, because each is the manager of the next and the last one of the first: by the
   * index of each, the whole ring in that order.
   */
  readonly rings: ReadonlyMap<number, readonly number[]>;
  /** What speaks against an operation before it begins. */
  readonly faults: ReadonlyMap<number, DomainError>;
}

/**
 * An operation that refers to what another one creates waits for that one; all others stay in their order. Users who
 * refer to each other in a circle wait for nobody: they are a ring (RFC 7644 §3.7.1).
 */
export function planOf(operations: readonly Prepared[]): Plan {
  const makers = makersOf(operations);
  const faults = new Map<number, DomainError>();
  const needs: (readonly number[])[] = operations.map((operation, index) => {
    const { change } = operation;
    const fault = change instanceof DomainError ? change : faultOf(operation, change, makers);
    if (fault !== undefined) faults.set(index, fault);
    return fault === undefined && !(change instanceof DomainError) ? needsOf(change, makers) : [];
  });
  const rings = new Map<number, readonly number[]>();
  for (const circle of findCircles(operations, needs)) {
    const ring = fromManagers(circle);
    for (const index of circle) {
      needs[index] = [];
      if (circle.length > ringUsersMax) faults.set(index, tooLongARing(circle.length));
      else rings.set(index, ring);
    }
  }
  return { order: orderOf(needs), rings, faults };
}

interface Maker {
  readonly index: number;
  /** Undefined when the operation could not be read: what it would make is not known. */
  readonly type: ResourceTypeName | undefined;
}

type Makers = ReadonlyMap<string, readonly Maker[]>;

/** The operations by the bulkIds that they give to new resources; a bulkId with another method is only a mark. */
function makersOf(operations: readonly Prepared[]): Makers {
  const makers = new Map<string, Maker[]>();
  for (const [index, { method, bulkId, change }] of operations.entries()) {
    if (method !== 'POST' || bulkId === undefined) continue;
    const maker = { index, type: change instanceof DomainError ? undefined : change.target.type };
    makers.set(bulkId, [...(makers.get(bulkId) ?? []), maker]);
  }
  return makers;
}

function faultOf(operation: Prepared, change: Change, makers: Makers): DomainError | undefined {
  const { method, bulkId = '' } = operation;
  const count = makers.get(bulkId)?.length ?? 0;
  if (method === 'POST' && count > 1) {
    const detail = `The bulkId "${shownBulkId(bulkId)}" is given to ${count} new resources; give every one its own.`;
    return new DomainError('invalidValue', detail, { attribute: 'bulkId' });
  }
  const { target, references } = change;
  const inPath = target.bulkId === undefined ? undefined : referenceFault(target.bulkId, target.type, makers);
  if (inPath !== undefined) return inPath;
  for (const reference of references) {
    const fault = referenceFault(reference, 'User', makers);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Why nothing of the wanted type can be meant by the bulkId. */
function referenceFault(bulkId: string, wanted: ResourceTypeName, makers: Makers): DomainError | undefined {
  const [maker, another] = makers.get(bulkId) ?? [];
  if (maker === undefined) {
    return new DomainError(
      'conflict',
      `No operation of this Bulk creates a resource with the bulkId "${shownBulkId(bulkId)}".`,
    );
  }
  if (another !== undefined) {
    return new DomainError(
      'conflict',
      `The bulkId "${shownBulkId(bulkId)}" could be one of several; give every one its own.`,
    );
  }
  if (maker.type === undefined || maker.type === wanted) return undefined;
  const detail = `The bulkId "${shownBulkId(bulkId)}" is that of a ${maker.type}, but a ${wanted} is needed here.`;
  return new DomainError('invalidValue', detail);
}

function needsOf({ target, references }: Change, makers: Makers): readonly number[] {
  const bulkIds = target.bulkId === undefined ? references : [target.bulkId, ...references];
  return [...new Set(bulkIds.flatMap((bulkId) => (makers.get(bulkId) ?? []).map(({ index }) => index)))];
}

/** A new user refers to one other at most, the manager: whoever follows the references comes to an end or a circle. */
function findCircles(
  operations: readonly Prepared[],
  needs: readonly (readonly number[])[],
): (readonly number[])[] {
  const circles: (readonly number[])[] = [];
  const seen = new Set<number>();
  for (const start of operations.keys()) {
    const way: number[] = [];
    let at: number | undefined = start;
    while (at !== undefined && !seen.has(at)) {
      seen.add(at);
      way.push(at);
      at = operations[at]?.method === 'POST' ? needs[at]?.[0] : undefined;
    }
    if (at !== undefined && way.includes(at)) circles.push(way.slice(way.indexOf(at)));
  }
  return circles;
}

/** From "whose manager is the next" to "who is the manager of the next", beginning with the first of the request. */
function fromManagers(circle: readonly number[]): readonly number[] {
  const down = circle.toReversed();
  const first = down.indexOf(Math.min(...down));
  return [...down.slice(first), ...down.slice(0, first)];
}

function tooLongARing(length: number): DomainError {
  const detail = `${length} users lead to each other as managers, more than ${ringUsersMax}; create one of them without manager, and set it afterwards.`;
  return new DomainError('conflict', detail);
}

/** Of what is ready, the first in the request is always the next. */
function orderOf(needs: readonly (readonly number[])[]): number[] {
  const missing = needs.map((each) => each.length);
  const waiting = needs.map((): number[] => []);
  for (const [index, each] of needs.entries()) for (const need of each) waiting[need]?.push(index);
  const order: number[] = [];
  const ready = [...needs.keys()].filter((index) => missing[index] === 0);
  for (let next = ready.shift(); next !== undefined; next = ready.shift()) {
    order.push(next);
    for (const dependent of waiting[next] ?? []) {
      missing[dependent] = (missing[dependent] ?? 0) - 1;
      if (missing[dependent] === 0) insertInOrder(ready, dependent);
    }
  }
  return order;
}

function insertInOrder(list: number[], index: number): void {
  const after = list.findIndex((each) => each > index);
  list.splice(after === -1 ? list.length : after, 0, index);
}
