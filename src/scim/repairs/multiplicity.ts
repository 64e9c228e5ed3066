import { isArray, isObject } from '../../resource/value.ts';
import type { ValueRepair } from './value-repair.ts';

/** An array of one, or of none, where a single value is meant; Entra ID does this with the manager (E4). */
export const singleFromArray: ValueRepair = {
  code: 'single-from-array',
  mend(attribute, value) {
    if (attribute.multiValued || !isArray(value) || value.length > 1) return undefined;
    return value[0] ?? null;
  },
};

/** An object where a list of objects is meant. */
export const arrayFromSingle: ValueRepair = {
  code: 'array-from-single',
  mend(attribute, value) {
    return attribute.multiValued && isObject(value) ? [value] : undefined;
  },
};
