// The keys that lists are sorted by in SQL, against what RFC 7644 §3.4.2.3 says of the resources that the client is shown.

import { describe, expect, test } from 'bun:test';
import { filterScope } from '../../src/directory/filter-sql.ts';
import { canonicalKey } from '../../src/resource/canonical-key.ts';
import { readAttribute } from '../../src/resource/document.ts';
import type { FilterTarget } from '../../src/resource/filter-resolve.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../src/resource/value.ts';
import { dialects } from '../support/database.ts';
import { leavesOf, openWorld, subjects } from './random-directory.ts';

/** The primary value of the attribute, or else the first, as something that can be ordered. */
function keyOf(view: ScimObject, { attribute, subAttribute, leaf }: FilterTarget): string | number | null {
  const value = firstOf(readAttribute(view, attribute));
  const found = subAttribute !== undefined && isObject(value) ? firstOf(value[subAttribute.name]) : value;
  if (found === undefined || found === null || isObject(found) || isArray(found)) return null;
  if (leaf.type === 'dateTime')
    return Date.parse(/(Z|[+-]..:..)$/.test(String(found)) ? String(found) : `${found}Z`);
  if (typeof found !== 'string') return Number(found);
  return leaf.caseExact ? found : canonicalKey(found);
}

function firstOf(value: ScimValue | undefined): ScimValue | undefined {
  if (!isArray(value)) return value;
  return value.find((element) => isObject(element) && element.primary === true) ?? value[0];
}

describe.each(dialects())('sort keys on %s', (dialect) => {
  test.each(subjects)(
    'of each $name are those of the primary or else the first value',
    async (subject) => {
      await using world = await openWorld(dialect, 13);
      let keys = 0;
      for (const context of world.contexts) {
        const shown = await subject.views(world.app, context);
        const ids = shown.map((view) => Number(view.id));
        const scope = filterScope(dialect, context);
        const rows = { condition: undefined, owner: scope.owner };
        for (const target of leavesOf(subject.typeOf(context.configuration))) {
          const sortKey = subject.sortKey(target, scope);
          const found = await subject.list.rowsAmong(world.app.database.read, rows, ids, sortKey);
          const inSql = found.map(({ key }) =>
            target.leaf.type === 'dateTime' && typeof key === 'string' ? Date.parse(key) : key,
          );
          const wanted = shown.map((view) => keyOf(view, target));
          const { path } = target.leaf;
          expect({ path, keys: inSql }).toEqual({ path, keys: wanted });
          keys += wanted.filter((key) => key !== null).length;
        }
      }
      expect(keys).toBeGreaterThan(100);
    },
    60_000,
  );
});
