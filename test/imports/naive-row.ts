// A record of a file on its way into the notebook, and what the file as a whole is known to say: see naive-import.ts.

import { keyOf, type Person } from './naive-directory.ts';
import type { GroupType, Leaf, RecordSpec } from './random-files.ts';

type Action = 'create' | 'update' | 'reactivate' | 'disable' | 'archive' | 'skip' | 'unchanged' | 'issue';

/** A record on its way. */
export interface Row {
  readonly record: RecordSpec;
  readonly name: string;
  readonly said: string;
  readonly wanted: readonly { readonly type: GroupType; readonly name: string }[] | undefined;
  person: Person | undefined;
  action: Action;
  becomes: 'active' | 'inactive' | undefined;
  hasFailed: boolean;
  isChanged: boolean;
}

export interface Known {
  readonly inFile: ReadonlySet<string | undefined>;
  readonly taken: Set<Person>;
  readonly present: Set<Person>;
}

export function groupKey({ type, name }: { readonly type: GroupType; readonly name: string }): string {
  return `${type}:${keyOf(name)}`;
}

export function write(person: Person, name: string, leaf: Leaf | undefined): void {
  if (leaf === undefined) return;
  if (leaf.text !== '') person.values.set(name, leaf.text);
  else if (leaf.clears) person.values.delete(name);
}
