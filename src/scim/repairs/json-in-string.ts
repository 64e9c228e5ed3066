import { isArray, isObject, type ScimValue } from '../../resource/value.ts';
import type { ValueRepair } from './value-repair.ts';

const textCharactersMax = 16_384;

/** Entra ID sends roles as a text that holds JSON: `"{\"value\":\"admin\"}"`. */
export const jsonInString: ValueRepair = {
  code: 'json-in-string',
  mend(attribute, value) {
    const isCandidate = attribute.type === 'complex' && typeof value === 'string' && /^\s*[[{]/.test(value);
    if (!isCandidate || value.length > textCharactersMax) return undefined;
    return parse(value);
  },
};

function parse(text: string): ScimValue | undefined {
  try {
    const value = JSON.parse(text) as ScimValue;
    return isObject(value) || isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
