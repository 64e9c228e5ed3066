import { DomainError } from '../errors.ts';
import { PatternError } from '../pattern/pattern-error.ts';
import { compilePcre2, type Pcre2Pattern, type Pcre2Result } from '../pattern/pcre2.ts';

const passwordBytesMax = 1_024;

/** One compiled rule is kept: there is one setting, and it seldom changes. */
let kept: { readonly regex: string; readonly pattern: Pcre2Pattern } | undefined;

async function compiled(regex: string): Promise<Pcre2Pattern> {
  if (kept?.regex === regex) return kept.pattern;
  const pattern = await compilePcre2(regex);
  kept?.pattern.dispose();
  kept = { regex, pattern };
  return pattern;
}

/** Throws `invalidValue` with the engine's message and offset when the regex does not compile. */
export async function checkPasswordRegex(regex: string): Promise<void> {
  try {
    (await compilePcre2(regex)).dispose();
  } catch (error) {
    throw regexError(error);
  }
}

/** Throws `invalidValue` when `password` is too long, breaks the rule, or the rule itself cannot be applied. */
export async function checkPassword(password: string, regex: string): Promise<void> {
  if (Buffer.byteLength(password) > passwordBytesMax) {
    throw refused(`The password is longer than ${passwordBytesMax} bytes; send a shorter one.`);
  }
  if (regex === '') return;
  let result: Pcre2Result;
  try {
    result = (await compiled(regex)).test(password);
  } catch (error) {
    throw regexError(error);
  }
  if (result.outcome === 'limit')
    throw refused(`The password strength regex is incompatible: ${result.message}.`);
  if (result.outcome === 'no-match') throw refused('The password does not meet the password strength rule.');
}

function regexError(error: unknown): unknown {
  if (!(error instanceof PatternError)) return error;
  return refused(`The password strength regex does not compile: ${error.message} at offset ${error.offset}.`);
}

function refused(detail: string): DomainError {
  return new DomainError('invalidValue', detail, { attribute: 'password' });
}
