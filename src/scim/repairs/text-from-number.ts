import type { ValueRepair } from './value-repair.ts';

/**
 * HR data has employee numbers and postal codes as JSON numbers; the schema has them as texts. Only a whole number that
 * JSON has kept exactly: of a longer one the last digits are lost already, and two people would become one.
 */
export const textFromNumber: ValueRepair = {
  code: 'text-from-number',
  mend(attribute, value) {
    const isExact = typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0);
    return attribute.type === 'string' && isExact ? String(value) : undefined;
  },
};
