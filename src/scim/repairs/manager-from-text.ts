import { findChild } from '../../resource/schema.ts';
import type { ValueRepair } from './value-repair.ts';

/** Entra ID sends the manager as the bare id: `"value": "7"` where `{"value": "7"}` is meant. */
export const managerFromText: ValueRepair = {
  code: 'manager-from-text',
  mend(attribute, value) {
    if (attribute.name !== 'manager' || attribute.multiValued) return undefined;
    const isId = typeof value === 'string' || Number.isSafeInteger(value);
    return isId ? { value: String(value) } : undefined;
  },
};

/** A bare text in a list of complex values is the `value` of an element: `"emails": ["ann@example.com"]`. */
export const elementFromText: ValueRepair = {
  code: 'element-from-text',
  mend(attribute, value) {
    if (attribute.type !== 'complex' || attribute.name === 'manager' || typeof value !== 'string')
      return undefined;
    return findChild(attribute, 'value') === undefined ? undefined : { value };
  },
};
