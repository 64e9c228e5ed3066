import type { ValueRepair } from './value-repair.ts';

/** HR data has employee numbers and postal codes as JSON numbers; the schema has them as texts. */
export const textFromNumber: ValueRepair = {
  code: 'text-from-number',
  mend(attribute, value) {
    return attribute.type === 'string' && typeof value === 'number' ? String(value) : undefined;
  },
};
