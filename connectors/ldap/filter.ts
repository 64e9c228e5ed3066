// The text of a search filter (RFC 4515), parsed before anything is asked.

import { type Filter, FilterParser } from 'ldapts';
import { DomainError } from '../../src/errors.ts';

/** Throws `invalidValue` with a sentence that names the filter. */
export function parseFilter(text: string): Filter {
  try {
    requireBrackets(text);
    return FilterParser.parseString(withoutEscapedLetters(text.trim()));
  } catch (cause) {
    throw new DomainError('invalidValue', `"${text}" is not an LDAP filter: compare its brackets.`, {
      cause,
    });
  }
}

/** The parser does not miss a bracket at the end. Within values brackets are escaped. */
function requireBrackets(text: string): void {
  if (text.split('(').length !== text.split(')').length) throw new Error('a bracket without its other');
}

/** The parser takes each escaped byte for a character of its own; beyond ASCII the character itself has to stand there. */
function withoutEscapedLetters(text: string): string {
  return text.replace(/(?:\\[89a-fA-F][0-9a-fA-F])+/g, (run) =>
    new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(run.replaceAll('\\', ''), 'hex')),
  );
}
