/**
 * A pattern that an engine does not accept. `message` is the engine's own text where there is one, and says nothing
 * about the texts that the pattern is tried on.
 */
export class PatternError extends Error {
  /** Where in the pattern, in UTF-16 code units from 0; undefined where the engine does not tell (RE2). */
  readonly offset: number | undefined;

  constructor(message: string, offset?: number, cause?: unknown) {
    super(message, { cause });
    this.name = 'PatternError';
    this.offset = offset;
  }
}
