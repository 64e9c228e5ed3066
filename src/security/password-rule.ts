import { DomainError } from '../errors.ts';
import { PatternError } from '../pattern/pattern-error.ts';
import type { Pcre2Result } from '../pattern/pcre2.ts';
import { Pcre2Runner } from '../pattern/pcre2-runner.ts';

const passwordBytesMax = 1_024;

/** One for the process: there is one rule, and its thread starts with the first password that meets it. */
const runner = new Pcre2Runner();

/** Throws `invalidValue` with the engine's message and offset when the regex does not compile. */
export async function checkPasswordRegex(regex: string): Promise<void> {
  try {
    await runner.check(regex);
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
  const result = await testRule(regex, password);
  if (result.outcome === 'limit')
    throw refused(`The password strength regex is incompatible: ${result.message}.`);
  if (result.outcome === 'no-match') throw refused('The password does not meet the password strength rule.');
}

async function testRule(regex: string, password: string): Promise<Pcre2Result> {
  try {
    return await runner.test(regex, password);
  } catch (error) {
    throw regexError(error);
  }
}

function regexError(error: unknown): unknown {
  if (!(error instanceof PatternError)) return error;
  return refused(`The password strength regex does not compile: ${error.message} at offset ${error.offset}.`);
}

function refused(detail: string): DomainError {
  return new DomainError('invalidValue', detail, { attribute: 'password' });
}
