import type { MappingRule } from './contract.ts';
import { userKeys } from './mapping.ts';

/**
 * For tables whose columns are called like the attributes: each attribute from the column of its name, `phones.work` too.
 * Groups are left out, for what cuts a text into groups only the configuration can tell.
 */
export const userMappingOfSameNames: Readonly<Record<string, MappingRule>> = Object.fromEntries(
  userKeys.filter((key) => key !== 'groups' && !key.startsWith('groups.')).map((key) => [key, key]),
);
