export type Variables = ReadonlyMap<string, string>;

/** `value` with each `${name}` in its texts replaced; a name that nothing captured is a mistake in the file. */
export function expand(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return fill(value, variables);
  if (Array.isArray(value)) return value.map((element) => expand(element, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expand(inner, variables)]));
}

function fill(text: string, variables: Variables): string {
  // Inside out, so that `${user${index}}` names one of a row of variables.
  const filled = text.replace(/\$\{([\w-]+)\}/g, (_, name: string) => {
    const found = variables.get(name);
    if (found === undefined) throw new Error(`nothing was captured as \${${name}}`);
    return found;
  });
  return filled === text ? text : fill(filled, variables);
}
