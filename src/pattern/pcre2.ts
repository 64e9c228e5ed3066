import { DomainError } from '../errors.ts';
import { patternUnitsMax, requirePattern } from './pattern.ts';
import { PatternError } from './pattern-error.ts';
import { loadPcre2Module, type Pcre2Module } from './pcre2-module.ts';

/** The longest text that a pattern is tried on, in bytes of UTF-8. A longer password is refused before this. */
export const textBytesMax = 1_024;

// UTF-8 takes at most three bytes for one UTF-16 code unit.
const patternBytesMax = patternUnitsMax * 3;
const messageBytesMax = 256;

// PCRE2_ERROR_NOMATCH, the one negative answer that is not a failure.
const noMatch = -1;

/**
 * What became of a text. `limit` says that the engine gave up: match, depth or heap limit, or recursion without
 * progress. `message` is then PCRE2's own text, and the caller has to treat the text as not matching.
 */
export type Pcre2Result =
  | { readonly outcome: 'match' }
  | { readonly outcome: 'no-match' }
  | { readonly outcome: 'limit'; readonly message: string };

interface CompiledCode {
  readonly module: Pcre2Module;
  readonly code: number;
}

const encoder = new TextEncoder();
// A byte order mark counts as a character; the decoder would otherwise drop it and shift offsets.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const forgotten = new FinalizationRegistry<CompiledCode>(({ module, code }) => module.release_code(code));

/** A compiled PCRE2 pattern. It holds memory of the engine until `dispose`, or until it is collected. */
export class Pcre2Pattern implements Disposable {
  #compiled: CompiledCode | undefined;

  constructor(compiled: CompiledCode) {
    this.#compiled = compiled;
    forgotten.register(this, compiled, this);
  }

  /**
   * Looks for the pattern anywhere in `text`. Half a surrogate pair counts as U+FFFD.
   * Throws DomainError `limitExceeded` for a text of more than `textBytesMax`.
   */
  test(text: string): Pcre2Result {
    if (this.#compiled === undefined) throw new Error('This pattern has been disposed of');
    const { module, code } = this.#compiled;
    const answer = withBytes(module, text, textBytesMax, (address, length) =>
      module.match(code, address, length),
    );
    if (answer === undefined) {
      const detail = `The text is longer than ${textBytesMax} bytes; a pattern is not tried on longer ones.`;
      throw new DomainError('limitExceeded', detail);
    }
    if (answer === noMatch) return { outcome: 'no-match' };
    return answer < 0 ? { outcome: 'limit', message: errorMessage(module, answer) } : { outcome: 'match' };
  }

  /** Gives the memory back. The pattern cannot be used afterwards; a second call does nothing. */
  dispose(): void {
    if (this.#compiled === undefined) return;
    forgotten.unregister(this);
    this.#compiled.module.release_code(this.#compiled.code);
    this.#compiled = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/**
 * Compiles a pattern in the syntax of pcre2pattern(3), with UTF and Unicode properties on (PCRE2_UTF, PCRE2_UCP) and
 * without `\C`. Throws PatternError with PCRE2's message and the offset.
 */
export async function compilePcre2(pattern: string): Promise<Pcre2Pattern> {
  requirePattern(pattern);
  const module = await loadPcre2Module();
  const code = withBytes(module, pattern, patternBytesMax, (address, length) =>
    module.compile(address, length),
  );
  if (!code) throw toPatternError(module, pattern);
  return new Pcre2Pattern({ module, code });
}

/** Shows `text` to the engine as UTF-8 for one call; undefined when it is longer than `bytesMax`. */
function withBytes(
  module: Pcre2Module,
  text: string,
  bytesMax: number,
  call: (address: number, lengthBytes: number) => number,
): number | undefined {
  const address = allocate(module, bytesMax);
  try {
    const { read, written } = encoder.encodeInto(text, bytesAt(module, address, bytesMax));
    return read < text.length ? undefined : call(address, written);
  } finally {
    // The text may be a password: it must not stay in freed memory.
    bytesAt(module, address, bytesMax).fill(0);
    module.release(address);
  }
}

function toPatternError(module: Pcre2Module, pattern: string): PatternError {
  const offsetBytes = module.compile_error_offset();
  const before = encoder.encode(pattern).subarray(0, offsetBytes);
  return new PatternError(errorMessage(module, module.compile_error_code()), decoder.decode(before).length);
}

function errorMessage(module: Pcre2Module, code: number): string {
  const address = allocate(module, messageBytesMax);
  try {
    const length = module.error_message(code, address, messageBytesMax);
    return length < 0 ? `error ${code}` : decoder.decode(bytesAt(module, address, length));
  } finally {
    module.release(address);
  }
}

function allocate(module: Pcre2Module, sizeBytes: number): number {
  const address = module.allocate(sizeBytes);
  if (address === 0) throw new DomainError('unavailable', 'The pattern engine is out of memory; try again.');
  return address;
}

// A new view each time: the buffer behind an old one is gone as soon as the memory grows.
function bytesAt(module: Pcre2Module, address: number, lengthBytes: number): Uint8Array {
  return new Uint8Array(module.memory.buffer, address, lengthBytes);
}
