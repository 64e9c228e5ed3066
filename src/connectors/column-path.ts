// Finds a column in a record of the source, whatever JSON it is made of, and turns what it holds into text.
// It never looks at what a record inherits: a column may be called `constructor` or `__proto__`.

import type { SourceRecord } from './contract.ts';

/** A place in a record: the name of a column, or a path to what is inside one. */
export interface Column {
  readonly name: string;
  /** What the record holds there; undefined when it has nothing of that name. */
  find(record: SourceRecord): unknown;
}

type Step = string | number | { readonly name: string; readonly value: string } | typeof every;

const every = Symbol('every');
const stepsMax = 20;

/** `.name`, `[0]`, `[*]` or `[name=value]`; the first name stands without its dot. */
const step = /\.?([^.[\]]+)|\[(\d{1,6})\]|\[(\*)\]|\[([^=[\]]+)=([^[\]]*)\]/gy;

/**
 * A column of the exact name comes first. Otherwise dots and brackets lead into the record: `name.givenName`,
 * `emails[0].value`, `emails[type=work].value` (the first that fits), `groups[*].id` (all of them, as a list).
 */
export function compileColumn(name: string): Column {
  const steps = /[.[]/.test(name) ? stepsOf(name) : undefined;
  const first = steps?.[0];
  // Only a name that every object inherits has to be asked for its owner, which costs as much as all else here.
  const isInherited = name in Object.prototype;
  return {
    name,
    find(record) {
      const value = record[name];
      if (value !== undefined && (!isInherited || Object.hasOwn(record, name))) return value;
      if (steps === undefined || typeof first !== 'string' || record[first] === undefined) return undefined;
      return walk(record, steps, 0);
    },
  };
}

/** Undefined when `name` is no path, but merely a name with such signs in it. */
function stepsOf(name: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let end = 0;
  for (const found of name.matchAll(step)) {
    end = found.index + found[0].length;
    steps.push(toStep(found));
    if (steps.length > stepsMax) return undefined;
  }
  return end === name.length ? steps : undefined;
}

function toStep([, name, index, star, key, value]: RegExpExecArray | RegExpMatchArray): Step {
  if (name !== undefined) return name;
  if (index !== undefined) return Number(index);
  return star === undefined ? { name: key ?? '', value: value ?? '' } : every;
}

function walk(value: unknown, steps: readonly Step[], at: number): unknown {
  const next = steps[at];
  if (next === undefined) return value;
  if (next === every) return walkEvery(value, steps, at + 1);
  return walk(inside(value, next), steps, at + 1);
}

function walkEvery(value: unknown, steps: readonly Step[], at: number): unknown {
  if (!Array.isArray(value)) return undefined;
  return value.flatMap((each) => {
    const found = walk(each, steps, at);
    return found === undefined ? [] : found;
  });
}

function inside(value: unknown, next: Exclude<Step, typeof every>): unknown {
  if (typeof next === 'string') return memberOf(value, next);
  if (!Array.isArray(value)) return undefined;
  if (typeof next === 'number') return value[next];
  return value.find((each) => isText(memberOf(each, next.name), next.value));
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function isText(value: unknown, text: string): boolean {
  return typeof value === 'object' ? false : String(value) === text;
}

/**
 * One text: of a list the first that is not empty; bytes in hexadecimal digits; a `Date` in UTC. Empty for what is not
 * there. Throws Error for an object, which has no text of its own.
 */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return scalarText(value);
  for (const each of value) {
    const text = toText(each);
    if (text !== '') return text;
  }
  return '';
}

/** All texts of a list, or the one of a single value; none that is empty. Throws Error as `toText` does. */
export function toTexts(value: unknown): readonly string[] {
  const texts = Array.isArray(value) ? value.flatMap(toTexts) : [toText(value)];
  return texts.filter((text) => text !== '');
}

function scalarText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean' || typeof value === 'bigint' || typeof value === 'string')
    return String(value);
  if (value instanceof Date) return dateText(value);
  if (value instanceof Uint8Array) return value.toHex();
  throw new Error('it holds an object; name what is inside it, as in "name.givenName" or "emails[0].value"');
}

/** Large whole numbers without an exponent: a number of a person is made of digits. */
function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new Error('it holds a number that is not finite');
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

function dateText(value: Date): string {
  if (Number.isNaN(value.getTime())) throw new Error('it holds a date that does not exist');
  return value.toISOString();
}
