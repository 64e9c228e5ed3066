import { DomainError } from '../errors.ts';
import { foldDocument } from '../resource/folded-document.ts';
import type { ScimObject } from '../resource/value.ts';

/** Far above any real profile with its photos' addresses; without a bound, one resource could fill memory and disk. */
const documentCharactersMax = 1024 * 1024;

/** A document as it is stored, with what filters need to know of it. Throws `invalidValue` for one that is too large. */
export function documentColumns(document: ScimObject, shownName: string) {
  const json = bounded(JSON.stringify(document));
  const folded = foldDocument(document, shownName);
  // Folding can make one character eighteen.
  return { document: json, folded: folded === undefined ? null : bounded(JSON.stringify(folded)) } as const;
}

function bounded(json: string): string {
  if (json.length <= documentCharactersMax) return json;
  const detail = `The resource would be larger than ${documentCharactersMax} characters; leave something out.`;
  throw new DomainError('invalidValue', detail);
}
