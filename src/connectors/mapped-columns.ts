// The columns that a mapping takes values from: what a source has to be asked for.

import type { Mapping, MappingRule } from './contract.ts';
import { columnsOf } from './mapping-rule.ts';

export interface MappedColumns {
  readonly user: readonly string[];
  readonly group: readonly string[];
  /** Those of a person's id alone. */
  readonly userId: readonly string[];
}

/** Names as the rules write them, paths included; each once. */
export function mappedColumns(mapping: Mapping | undefined, defaults: Mapping | undefined): MappedColumns {
  const rulesOf = (side: 'user' | 'group'): Rules => ({ ...defaults?.[side], ...mapping?.[side] });
  const { id = null } = rulesOf('user');
  return { user: names(rulesOf('user')), group: names(rulesOf('group')), userId: names({ id }) };
}

type Rules = Readonly<Record<string, MappingRule | null>>;

function names(rules: Rules): readonly string[] {
  const columns = Object.entries(rules).flatMap(([key, rule]) => (rule === null ? [] : columnsOf(rule, key)));
  return [...new Set(columns.map(({ name }) => name))];
}
