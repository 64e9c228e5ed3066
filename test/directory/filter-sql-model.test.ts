// Random filters over random people and groups: SQL finds whom `evaluateFilter` finds among what the client is shown.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { DirectoryContext } from '../../src/directory/context.ts';
import { type Condition, filterScope } from '../../src/directory/filter-sql.ts';
import { evaluateFilter } from '../../src/resource/filter-evaluate.ts';
import { type ResolvedFilter, readFilter } from '../../src/resource/filter-resolve.ts';
import type { AttributeDefinition, ResourceType } from '../../src/resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../src/resource/value.ts';
import type { TestApp } from '../support/app.ts';
import { dialects } from '../support/database.ts';
import {
  attributesOf,
  dateTimes,
  decimals,
  integers,
  leavesOf,
  openWorld,
  type Subject,
  subjects,
  texts,
} from './random-directory.ts';

/** Every value that occurs, by the name of its attribute: literals that hit something. */
function poolOf(views: readonly ScimObject[]): ReadonlyMap<string, readonly ScimValue[]> {
  const pool = new Map<string, ScimValue[]>();
  const visit = (name: string, value: ScimValue): void => {
    if (isArray(value)) for (const element of value) visit(name, element);
    else if (isObject(value)) for (const [part, inner] of Object.entries(value)) visit(part, inner);
    else pool.set(name, [...(pool.get(name) ?? []), value]);
  };
  for (const view of views) visit('', view);
  return pool;
}

const equality = ['eq', 'ne'];
const order = ['gt', 'ge', 'lt', 'le'];
const substrings = ['co', 'sw', 'ew'];

function operatorsFor({ type }: AttributeDefinition): string[] {
  if (type === 'boolean' || type === 'binary') return equality;
  return type === 'string' || type === 'reference'
    ? [...equality, ...order, ...substrings]
    : [...equality, ...order];
}

function literalFor(
  definition: AttributeDefinition,
  pool: ReadonlyMap<string, readonly ScimValue[]>,
): fc.Arbitrary<string> {
  const known = pool.get(definition.name) ?? [];
  switch (definition.type) {
    case 'boolean':
      return fc.constantFrom('true', 'false', '"True"');
    case 'integer':
    case 'decimal': {
      const numbers = known.filter((value) => typeof value === 'number');
      return fc
        .oneof(decimals, integers, fc.constantFrom(0, ...numbers))
        .map((value) => JSON.stringify(value));
    }
    case 'dateTime': {
      const times = known.filter((value) => typeof value === 'string');
      return fc
        .oneof(dateTimes, fc.constantFrom('2030-01-01T00:00:00Z', ...times))
        .map((value) => JSON.stringify(value));
    }
    default: {
      const strings = known.filter((value) => typeof value === 'string');
      return fc
        .oneof(texts, fc.constant(''), fc.constantFrom('x', ...strings).chain(variantsOf))
        .map((value) => JSON.stringify(value));
    }
  }
}

/** The text as it is, in other letters, with blanks, or a piece of it. */
function variantsOf(text: string): fc.Arbitrary<string> {
  const points = [...text];
  return fc.oneof(
    fc.constantFrom(text, text, text.toUpperCase(), text.toLowerCase(), ` ${text} `),
    fc.nat(points.length).map((length) => points.slice(0, length).join('')),
    fc.nat(points.length).map((length) => points.slice(length).join('')),
  );
}

type Pool = ReadonlyMap<string, readonly ScimValue[]>;

function filtersFor(resourceType: ResourceType, pool: Pool): fc.Arbitrary<string> {
  const leaves = leavesOf(resourceType);
  const complex = attributesOf(resourceType).filter((attribute) => attribute.type === 'complex');
  const compareTo = (path: string, definition: AttributeDefinition) =>
    fc.oneof(
      {
        weight: 12,
        arbitrary: fc
          .tuple(fc.constantFrom(...operatorsFor(definition)), literalFor(definition, pool))
          .map(([operator, literal]) => `${path} ${operator} ${literal}`),
      },
      { weight: 1, arbitrary: fc.constantFrom(`${path} pr`, `${path} eq null`, `${path} ne null`) },
    );
  const simple = fc.constantFrom(...leaves).chain(({ leaf }) => compareTo(leaf.path, leaf));
  const complexPresent = fc.constantFrom(...complex).map(({ path }) => `${path} pr`);
  const valuePath = fc.constantFrom(...complex).chain((attribute) => {
    const inner = fc.constantFrom(...new Set(attribute.children.values())).chain((part) => {
      if (part.type !== 'complex') return compareTo(part.name, part);
      const nested = fc.constantFrom(...new Set(part.children.values())).chain((deep) =>
        fc.oneof(
          compareTo(`${part.name}.${deep.name}`, deep),
          compareTo(deep.name, deep).map((filter) => `${part.name}[${filter}]`),
        ),
      );
      return fc.oneof(nested, fc.constant(`${part.name} pr`));
    });
    return junctions(inner, 2).map((filter) => `${attribute.path}[${filter}]`);
  });
  return junctions(
    fc.oneof(
      { weight: 8, arbitrary: simple },
      { weight: 1, arbitrary: complexPresent },
      { weight: 4, arbitrary: valuePath },
    ),
    3,
  );
}

function junctions(term: fc.Arbitrary<string>, depth: number): fc.Arbitrary<string> {
  if (depth === 0) return term;
  const inner = junctions(term, depth - 1);
  return fc.oneof(
    { weight: 6, arbitrary: term },
    { weight: 1, arbitrary: inner.map((filter) => `not (${filter})`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(inner, fc.constantFrom('and', 'or'), inner)
        .map(([a, word, b]) => `(${a}) ${word} (${b})`),
    },
  );
}

/** The ids by both ways in which the filter may be asked. */
async function idsInSql(
  { app, context, subject }: { app: TestApp; context: DirectoryContext; subject: Subject },
  filter: ResolvedFilter,
): Promise<readonly number[][]> {
  const { read, dialect } = app.database;
  const scope = filterScope(dialect, context);
  const { condition, driven } = subject.filterSql(filter, scope);
  const ask = (asked: Condition) =>
    subject.list.ids(read, { condition: asked, owner: scope.owner }, { from: 1, skip: 0, count: 1_000 });
  return [await ask(condition), await ask(driven)];
}

const runs = 300;

describe.each(dialects())('random filters on %s', (dialect) => {
  describe.each([11, 12])('over the directory of seed %d', (seed) => {
    test.each(subjects)(
      'find each $name that the client would pick by hand',
      async (subject) => {
        await using world = await openWorld(dialect, seed);
        let hits = 0;
        for (const context of world.contexts) {
          const shown = await subject.views(world.app, context);
          const type = subject.typeOf(context.configuration);
          const asked = { app: world.app, context, subject };
          await fc.assert(
            fc.asyncProperty(filtersFor(type, poolOf(shown)), async (text) => {
              const { filter } = readFilter(type, text);
              const wanted = shown
                .filter((view) => evaluateFilter(filter, view))
                .map((view) => Number(view.id));
              expect({ text, ids: await idsInSql(asked, filter) }).toEqual({ text, ids: [wanted, wanted] });
              if (wanted.length > 0 && wanted.length < shown.length) hits += 1;
            }),
            { numRuns: runs },
          );
        }
        // Filters that find all or nobody would prove little.
        expect(hits).toBeGreaterThan(runs / 5);
      },
      60_000,
    );
  });
});
