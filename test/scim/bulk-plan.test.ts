import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Plan, planOf, ringUsersMax } from '../../src/scim/bulk/plan.ts';
import type { Prepared } from '../../src/scim/bulk/prepare.ts';
import { newTrace } from '../../src/scim/call.ts';

/** An operation that creates what `to` refers to: users have one manager at most, groups have members. */
interface Node {
  readonly type: 'User' | 'Group';
  readonly to: readonly number[];
}

function preparedOf(nodes: readonly Node[]): Prepared[] {
  return nodes.map(({ type, to }, index) => ({
    number: index + 1,
    method: 'POST',
    bulkId: `b${index}`,
    path: `/${type}s`,
    trace: newTrace(),
    change: {
      method: 'POST',
      target: { type, id: undefined, bulkId: undefined },
      ifMatch: undefined,
      content: { kind: 'resource', resource: {} },
      references: to.map((place) => `b${place}`),
    },
  }));
}

const nodesOf: fc.Arbitrary<readonly Node[]> = fc
  .array(fc.boolean(), { minLength: 1, maxLength: 14 })
  .chain((kinds) => {
    const users = kinds.flatMap((isUser, index) => (isUser ? [index] : []));
    const references = (count: number) =>
      users.length === 0 ? fc.constant([]) : fc.uniqueArray(fc.constantFrom(...users), { maxLength: count });
    return fc.tuple(
      ...kinds.map((isUser) =>
        fc.record({
          type: fc.constant<Node['type']>(isUser ? 'User' : 'Group'),
          to: references(isUser ? 1 : 6),
        }),
      ),
    );
  });

/** The order by its definition: again and again the first of those that wait for nothing any more. */
function expectedOrder(nodes: readonly Node[], { rings }: Plan): number[] {
  const order: number[] = [];
  const isReady = (index: number) =>
    !order.includes(index) &&
    (rings.has(index) || (nodes[index]?.to ?? []).every((need) => order.includes(need)));
  for (;;) {
    const next = [...nodes.keys()].find(isReady);
    if (next === undefined) return order;
    order.push(next);
  }
}

/** Whether whoever follows the managers from here comes back. */
function isInCircle(nodes: readonly Node[], start: number): boolean {
  let at = nodes[start]?.to[0];
  for (let step = 0; step < nodes.length && at !== undefined; step += 1) {
    if (at === start) return nodes[start]?.type === 'User';
    at = nodes[at]?.to[0];
  }
  return false;
}

describe('planOf', () => {
  test('puts every operation behind what it needs, and no other one behind another', () => {
    fc.assert(
      fc.property(nodesOf, (nodes) => {
        const plan = planOf(preparedOf(nodes));
        expect(plan.faults.size).toBe(0);
        expect(plan.order).toHaveLength(nodes.length);
        expect([...plan.order]).toEqual(expectedOrder(nodes, plan));
      }),
      { numRuns: 500 },
    );
  });

  test('finds exactly the circles, each beginning with its first and leading from manager to managed', () => {
    fc.assert(
      fc.property(nodesOf, (nodes) => {
        const { rings } = planOf(preparedOf(nodes));
        for (const index of nodes.keys()) expect(rings.has(index)).toBe(isInCircle(nodes, index));
        for (const ring of rings.values()) {
          expect(ring[0]).toBe(Math.min(...ring));
          for (const [place, index] of ring.entries()) {
            expect(nodes[index]?.to).toEqual([ring.at(place - 1) ?? -1]);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test('says of a circle that is too long what to do', () => {
    const length = ringUsersMax + 1;
    const nodes = Array.from({ length }, (_, index): Node => ({ type: 'User', to: [(index + 1) % length] }));
    const { faults, rings, order } = planOf(preparedOf(nodes));
    expect([faults.size, rings.size, order.length]).toEqual([length, 0, length]);
    expect(faults.get(0)).toMatchObject({ kind: 'conflict', detail: expect.stringContaining('101 users') });
  });
});
