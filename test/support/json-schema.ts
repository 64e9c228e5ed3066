// A small checker of JSON Schema draft 2020-12: the words that the published description uses, and no others.
// It is stricter than the standard in one way: a member that a list of properties does not name is a problem.

import { isDeepStrictEqual } from 'node:util';
import type { Json } from './app.ts';

const annotations = new Set(['description', 'examples', 'default', 'readOnly', 'writeOnly', 'format']);

/** Everything wrong with `value`, with its place; `resolve` gives the schema behind a `$ref`. */
export type Resolve = (ref: string) => Json;
type Check = (limit: Json, value: Json, at: string, all: { schema: Json; resolve: Resolve }) => string[];

export function schemaProblems(schema: Json, value: Json, resolve: Resolve, at = ''): string[] {
  return Object.entries(schema).flatMap(([word, limit]) => {
    if (annotations.has(word)) return [];
    const check = checks[word];
    return check === undefined
      ? [`${at}: unknown word ${word}`]
      : check(limit, value, at, { schema, resolve });
  });
}

const checks: Readonly<Record<string, Check>> = {
  $ref: (ref, value, at, { resolve }) => schemaProblems(resolve(ref), value, resolve, at),
  type: (type, value, at) => (hasType(type, value) ? [] : [`${at}: not ${type}`]),
  enum: (values: Json[], value, at) =>
    values.includes(value) ? [] : [`${at}: ${value} is none of ${values}`],
  const: (wanted, value, at) => (isDeepStrictEqual(wanted, value) ? [] : [`${at}: not ${wanted}`]),
  minimum: (least, value, at) => (value < least ? [`${at}: less than ${least}`] : []),
  pattern: (form, value, at) => (new RegExp(form).test(value) ? [] : [`${at}: not of the form ${form}`]),
  required: (names: string[], value, at) =>
    names
      .filter((name) => isObject(value) && !Object.hasOwn(value, name))
      .map((name) => `${at}.${name}: missing`),
  properties: (known, value, at, { resolve }) =>
    Object.entries(isObject(value) ? value : {}).flatMap(([name, inner]) =>
      Object.hasOwn(known, name)
        ? schemaProblems(known[name], inner, resolve, `${at}.${name}`)
        : [`${at}.${name}: not described`],
    ),
  patternProperties: (forms, value, at, { resolve }) =>
    Object.entries(forms).flatMap(([form, inner]) =>
      Object.keys(isObject(value) ? value : {})
        .filter((name) => new RegExp(form).test(name))
        .flatMap((name) => schemaProblems(inner, value[name], resolve, `${at}.${name}`)),
    ),
  items: (inner, value, at, { resolve }) =>
    Array.isArray(value)
      ? value.flatMap((each, index) => schemaProblems(inner, each, resolve, `${at}[${index}]`))
      : [],
  anyOf: (choices: Json[], value, at, { resolve }) =>
    choices.some((choice) => schemaProblems(choice, value, resolve).length === 0)
      ? []
      : [`${at}: fits nothing`],
};

function isObject(value: Json): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasType(type: string, value: Json): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  return type === 'object' ? isObject(value) : typeof value === type;
}
