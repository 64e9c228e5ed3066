import { DomainError } from '../errors.ts';
import type { Re2Pattern } from '../pattern/re2.ts';

/** Whether the value of an additional field fits. What is too much for the pattern's engine is `invalidValue`, not "later". */
export function fitsPattern(pattern: Re2Pattern, name: string, value: string): boolean {
  try {
    return pattern.test(value);
  } catch (cause) {
    if (!(cause instanceof DomainError) || cause.kind !== 'limitExceeded') throw cause;
    throw new DomainError(
      'invalidValue',
      `The value of the additional field "${name}" cannot be compared with its pattern; shorten it, or give the field a simpler pattern.`,
      { cause },
    );
  }
}
