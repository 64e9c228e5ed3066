/** The variables that begin with `ROLLCALL_`. This file alone reads the environment. */
export function readEnvironment(): Readonly<Record<string, string>> {
  return pick((name) => name.startsWith('ROLLCALL_'));
}

/** What a child of ours needs to start, and nothing more: no secret of this process reaches it by its environment. */
export function childEnvironment(): Readonly<Record<string, string>> {
  const names = new Set(['HOME', 'LANG', 'PATH', 'SYSTEMROOT', 'TEMP', 'TMP', 'TMPDIR', 'TZ']);
  return pick((name) => names.has(name.toUpperCase()));
}

function pick(isWanted: (name: string) => boolean): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => isWanted(name));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
