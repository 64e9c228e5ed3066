import { describe, expect, test } from 'bun:test';
import * as fc from 'fast-check';
import { type Json, openTestApp, platformGroupUrn, type TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';

const people = ['1', '2', '3', '4', '5', '6', '7', '8'];
const some = fc.uniqueArray(fc.constantFrom(...people), { maxLength: 5 });

/** A change of the members in words, and of nothing or the description beside. */
interface Step {
  readonly kind: 'add' | 'remove' | 'removeWhere' | 'replace' | 'clear' | 'pathlessAdd' | 'describe';
  readonly ids: readonly string[];
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('add', 'remove', 'removeWhere', 'replace', 'clear', 'pathlessAdd', 'describe'),
  ids: some,
});
const request = fc.oneof(
  fc.record({ put: some }),
  fc.record({ patch: fc.array(step, { minLength: 1, maxLength: 3 }) }),
);

const members = (ids: readonly string[]) => ids.map((value) => ({ value }));

function toOperation({ kind, ids }: Step): object {
  switch (kind) {
    case 'remove':
    case 'add':
    case 'replace':
      return { op: kind, path: 'members', value: members(ids) };
    case 'removeWhere':
      return { op: 'remove', path: `members[value eq "${ids[0] ?? '9'}"]` };
    case 'clear':
      return { op: 'remove', path: 'members' };
    case 'pathlessAdd':
      return { op: 'add', value: { members: members(ids) } };
    case 'describe':
      return { op: 'replace', path: `${platformGroupUrn}:description`, value: `With ${ids.join()}` };
  }
}

function change(held: ReadonlySet<string>, { kind, ids }: Step): ReadonlySet<string> {
  if (kind === 'add' || kind === 'pathlessAdd') return held.union(new Set(ids));
  if (kind === 'replace') return new Set(ids);
  if (kind === 'clear') return new Set();
  if (kind === 'describe') return held;
  return held.difference(new Set(kind === 'remove' ? ids : ids.slice(0, 1)));
}

const idsOf = (list: Json): string[] => (list ?? []).map((each: { value: string }) => each.value);

/** Who is in the group, as its own journal tells it, and as those of the people do. */
async function replayed(app: TestApp, groupId: string) {
  let [byGroup, byPeople] = [new Set<string>(), new Set<string>()];
  for (const { resource_type, resource_id, action, before, after } of await app.journal()) {
    const isAdded = action.endsWith('.add');
    if (resource_type === 'Group' && String(resource_id) === groupId && action.startsWith('members.'))
      byGroup = isAdded ? byGroup.union(new Set(after.members)) : byGroup.difference(new Set(before.members));
    const isAbout = action.startsWith('groups.') && (after ?? before).groups.includes(groupId);
    if (isAbout && isAdded) byPeople = byPeople.union(new Set([String(resource_id)]));
    if (isAbout && !isAdded) byPeople = byPeople.difference(new Set([String(resource_id)]));
  }
  return { byGroup: [...byGroup].sort(), byPeople: [...byPeople].sort() };
}

async function versions(app: TestApp): Promise<Map<string, string>> {
  const { body } = await app.call('GET', '/Users?attributes=meta');
  return new Map(body.Resources.map((user: Json) => [user.id, user.meta.version]));
}

let count = 0;

describe.each(dialects())('groups on %s', (dialect) => {
  test('have after any PUTs and PATCHes the members that a plain set would have', async () => {
    await using app = await openTestApp({ dialect });
    for (const id of people) await app.createUser({ userName: `user${id}` });
    const runs = fc.asyncProperty(some, fc.array(request, { maxLength: 6 }), async (first, requests) => {
      const displayName = `Group ${++count}`;
      const created = await app.createGroup({ displayName, members: members(first) });
      const path = `/Groups/${created.body.id}`;
      let model: ReadonlySet<string> = new Set(first);
      let held = created.body;
      for (const each of requests) {
        const before = await versions(app);
        const next = 'put' in each ? new Set(each.put) : each.patch.reduce(change, model);
        const answer =
          'put' in each
            ? await app.call('PUT', path, { displayName, members: members(each.put) })
            : await app.patch(path, each.patch.map(toOperation));
        expect(answer.status).toBe(200);
        const { body } = await app.call('GET', path);
        expect(answer.body).toEqual(body);
        expect(idsOf(body.members)).toEqual([...next].sort());
        const { meta: _now, ...now } = body;
        const { meta: _then, ...then } = held;
        if (!Bun.deepEquals(now, then)) expect(body.meta.version).not.toBe(held.meta.version);
        const after = await versions(app);
        for (const id of next.symmetricDifference(model)) expect(after.get(id)).not.toBe(before.get(id));
        model = next;
        held = body;
      }
      for (const id of people) {
        const { body } = await app.call('GET', `/Users/${id}`);
        expect(idsOf(body.groups).includes(created.body.id)).toBe(model.has(id));
      }
      const ids = [...model].sort();
      expect(await replayed(app, created.body.id)).toEqual({ byGroup: ids, byPeople: ids });
    });
    await fc.assert(runs, { numRuns: 15 });
  }, 120_000);
});
