import type { ValueRepair } from './value-repair.ts';

/** Entra ID in its default mode sends booleans as texts: `"active": "False"` (idp-client E2). */
export const booleanFromString: ValueRepair = {
  code: 'boolean-from-string',
  mend(attribute, value) {
    if (attribute.type !== 'boolean' || typeof value !== 'string') return undefined;
    const text = value.trim().toLowerCase();
    return text === 'true' ? true : text === 'false' ? false : undefined;
  },
};
