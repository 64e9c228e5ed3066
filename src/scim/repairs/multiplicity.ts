import { isArray, isObject } from '../../resource/value.ts';
import type { ValueRepair } from './value-repair.ts';

/** An array of one where a single value is meant; Entra ID does this with the manager. */
export const singleFromArray: ValueRepair = {
  code: 'single-from-array',
  mend(attribute, value) {
    return !attribute.multiValued && isArray(value) && value.length === 1 ? value[0] : undefined;
  },
};

/** An object where a list of objects is meant. */
export const arrayFromSingle: ValueRepair = {
  code: 'array-from-single',
  mend(attribute, value) {
    return attribute.multiValued && isObject(value) ? [value] : undefined;
  },
};
