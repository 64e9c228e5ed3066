/** What in `actual` differs from the part of it that `wanted` describes, one sentence for each place. */
export function mismatch(wanted: unknown, actual: unknown, place = ''): string[] {
  if (isPattern(wanted)) {
    const fits = typeof actual === 'string' && new RegExp(wanted.$match).test(actual);
    return fits ? [] : [`${place} is ${show(actual)}, which does not match ${wanted.$match}`];
  }
  if (Array.isArray(wanted)) return listMismatch(wanted, actual, place);
  if (typeof wanted === 'object' && wanted !== null) return objectMismatch(wanted, actual, place);
  return Object.is(wanted, actual) ? [] : [`${place} is ${show(actual)} instead of ${show(wanted)}`];
}

function listMismatch(wanted: readonly unknown[], actual: unknown, place: string): string[] {
  if (!Array.isArray(actual)) return [`${place} is ${show(actual)} instead of a list`];
  if (actual.length !== wanted.length) {
    return [`${place} has ${actual.length} elements instead of ${wanted.length}: ${show(actual)}`];
  }
  return wanted.flatMap((element, index) => mismatch(element, actual[index], `${place}/${index}`));
}

function objectMismatch(wanted: object, actual: unknown, place: string): string[] {
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) {
    return [`${place} is ${show(actual)} instead of an object`];
  }
  const members = new Map(Object.entries(actual));
  return Object.entries(wanted).flatMap(([key, inner]) =>
    mismatch(inner, members.get(key), `${place}/${key}`),
  );
}

function isPattern(value: unknown): value is { readonly $match: string } {
  return typeof value === 'object' && value !== null && '$match' in value;
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 300) ?? 'absent';
}

/** What a JSON pointer (RFC 6901) leads to; undefined when it leads nowhere. */
export function at(value: unknown, pointer: string): unknown {
  const keys = pointer.split('/').slice(1);
  return keys.reduce<unknown>(
    (inner, key) => step(inner, key.replaceAll('~1', '/').replaceAll('~0', '~')),
    value,
  );
}

function step(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}
