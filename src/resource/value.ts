// The JSON values a SCIM resource is made of, and the questions every part of the model asks of them.
// Never knows a schema: what a value means is decided in normalise.ts and patch.ts.
// Renders RFC 7643 §2.3 (data types), §2.5 (unassigned values) and nothing else.

export type ScimValue = string | number | boolean | null | ScimObject | readonly ScimValue[];

/** A JSON object: a resource, an extension, or a complex value. Values are read-only. */
export interface ScimObject {
  readonly [name: string]: ScimValue;
}

export function isArray(value: unknown): value is readonly ScimValue[] {
  return Array.isArray(value);
}

export function isObject(value: unknown): value is ScimObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** null, "", [] and {} stand for "no value" (RFC 7643 §2.5; the empty string by decision of the design). */
export function isUnassigned(value: ScimValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value !== 'object') return false;
  if (isArray(value)) return value.length === 0;
  return hasNoKeys(value);
}

export function hasNoKeys(value: ScimObject): boolean {
  for (const _name in value) return false;
  return true;
}

/** Deep equality; the order of object keys does not matter, the order of array elements does. */
export function equalValues(a: ScimValue | undefined, b: ScimValue | undefined): boolean {
  if (a === b) return true;
  if (isArray(a)) return isArray(b) && equalArrays(a, b);
  return isObject(a) && isObject(b) && equalResources(a, b);
}

/** Whether two resources say the same: finds out if a PUT or PATCH changed anything. */
export function equalResources(a: ScimObject, b: ScimObject): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && equalValues(a[name], b[name]));
}

function equalArrays(a: readonly ScimValue[], b: readonly ScimValue[]): boolean {
  return a.length === b.length && a.every((value, index) => equalValues(value, b[index]));
}

/** Keys that name parts of every JavaScript object; no SCIM attribute may be called so. */
export function isDangerousKey(name: string): boolean {
  return name === '__proto__' || name === 'constructor' || name === 'prototype';
}
