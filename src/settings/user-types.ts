import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { standardUserTypes } from '../resource/schema.ts';

const typesMax = 50;
const nameCharactersMax = 100;

/** Every type that a person can be of: the standard ones, and those that the setting `userTypes` names. */
export function userTypesOf(setting: string): readonly string[] {
  return [...standardUserTypes, ...furtherUserTypes(setting)];
}

/** Reads the setting. Throws `invalidValue` for a name that is too long, has control characters, or occurs twice. */
export function furtherUserTypes(setting: string): readonly string[] {
  const names = setting
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length > typesMax) throw refused(`at most ${typesMax} names`);
  const seen = new Set(standardUserTypes.map(canonicalKey));
  for (const name of names) {
    if (name.length > nameCharactersMax || /\p{Cc}|\p{Surrogate}/u.test(name))
      throw refused(`names of 1 to ${nameCharactersMax} printable characters`);
    if (seen.has(canonicalKey(name))) throw refused(`each name once, and "${name}" is there already`);
    seen.add(canonicalKey(name));
  }
  return names;
}

function refused(what: string): DomainError {
  return new DomainError('invalidValue', `The setting userTypes takes ${what}.`);
}
