import { DomainError } from '../errors.ts';
import { PatternError } from '../pattern/pattern-error.ts';
import { compilePcre2, type Pcre2Pattern, type Pcre2Result } from '../pattern/pcre2.ts';

const passwordBytesMax = 1_024;

/** One compiled rule is kept: there is one setting, and it seldom changes. */
let kept: { readonly regex: string; readonly pattern: Promise<Pcre2Pattern> } | undefined;

/** Whoever asked before the rule was changed is answered before the former pattern is let go of. */
function testRule(regex: string, password: string): Promise<Pcre2Result> {
  if (kept?.regex !== regex) {
    kept?.pattern.then((former) => former.dispose()).catch(() => undefined);
    kept = { regex, pattern: compilePcre2(regex) };
  }
  return kept.pattern.then((pattern) => pattern.test(password));
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
    result = await testRule(regex, password);
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
