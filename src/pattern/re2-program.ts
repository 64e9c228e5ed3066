import { DomainError } from '../errors.ts';
import { PatternError } from './pattern-error.ts';
import type { Re2Engine, Re2Found, Re2Module, WrappedRe2 } from './re2-module.ts';

interface Live {
  readonly module: Re2Module;
  readonly wrapped: WrappedRe2;
}

/**
 * A compiled pattern that outlives its engine. An engine that runs out of memory stops for good, and it may have been
 * other patterns that used the memory up. The call is then tried once more in a fresh engine, and every other pattern
 * moves there when it is used next.
 */
export class Re2Program {
  /** Group numbers, from 1, by group name. */
  readonly groupNumbers: ReadonlyMap<string, number>;
  readonly #engine: Re2Engine;
  readonly #source: string;
  #live: Live | undefined;
  #disposed = false;

  /** Throws PatternError with RE2's message. `source` is in the syntax of the engine's release. */
  constructor(engine: Re2Engine, source: string) {
    this.#engine = engine;
    this.#source = source;
    this.groupNumbers = this.#enter(groupNumbers);
  }

  /** The first match at or after a character, counted in code points. `text` has to be well-formed. */
  find(text: string, fromCharacter: number, withGroups: boolean): Re2Found | undefined {
    const found = this.#enter((wrapped) => wrapped.match(text, fromCharacter, withGroups));
    return found.index < 0 ? undefined : found;
  }

  dispose(): void {
    this.#disposed = true;
    if (this.#live === undefined) return;
    forgotten.unregister(this);
    release(this.#engine, this.#live);
    this.#live = undefined;
  }

  #enter<T>(call: (wrapped: WrappedRe2) => T): T {
    if (this.#disposed) throw new Error('This pattern has been disposed of');
    try {
      return this.#attempt(call);
    } catch (error) {
      if (!(error instanceof EngineStopped)) throw error;
    }
    try {
      return this.#attempt(call);
    } catch (cause) {
      if (!(cause instanceof EngineStopped)) throw cause;
      const detail = 'The pattern needs more memory than the engine has; use smaller repetitions in it.';
      throw new DomainError('limitExceeded', detail, { cause });
    }
  }

  #attempt<T>(call: (wrapped: WrappedRe2) => T): T {
    const module = this.#engine.current;
    try {
      return call(this.#wrappedIn(module));
    } catch (cause) {
      if (!stopsEngine(cause)) throw cause;
      this.#engine.discard(module);
      throw new EngineStopped('The RE2 engine stopped', { cause });
    }
  }

  #wrappedIn(module: Re2Module): WrappedRe2 {
    if (this.#live?.module === module) return this.#live.wrapped;
    forgotten.unregister(this);
    this.#live = { module, wrapped: compileIn(module, this.#source) };
    forgotten.register(this, { engine: this.#engine, live: this.#live }, this);
    return this.#live.wrapped;
  }
}

class EngineStopped extends Error {}

// Out of memory aborts with a RuntimeError, a C++ exception arrives as a string, and too deep a recursion as RangeError.
function stopsEngine(cause: unknown): boolean {
  return (
    cause instanceof WebAssembly.RuntimeError || cause instanceof RangeError || typeof cause === 'string'
  );
}

const forgotten = new FinalizationRegistry<{ engine: Re2Engine; live: Live }>(({ engine, live }) =>
  release(engine, live),
);

// The memory of an engine that was thrown away went with it.
function release(engine: Re2Engine, live: Live): void {
  if (engine.isCurrent(live.module)) live.wrapped.delete();
}

function compileIn(module: Re2Module, source: string): WrappedRe2 {
  const wrapped = new module.WrappedRE2(source, false, false, false);
  const message = wrapped.ok() ? repeatedName(wrapped) : wrapped.error();
  if (message === undefined) return wrapped;
  wrapped.delete();
  throw new PatternError(message);
}

function repeatedName(wrapped: WrappedRe2): string | undefined {
  const names = groupNames(wrapped).map(([name]) => name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? undefined : `duplicate capture group name: ${repeated}`;
}

function groupNumbers(wrapped: WrappedRe2): ReadonlyMap<string, number> {
  return new Map(groupNames(wrapped));
}

function groupNames(wrapped: WrappedRe2): [string, number][] {
  const names = wrapped.capturingGroupNames();
  const numbers = names.keys();
  const count = numbers.size();
  const pairs: [string, number][] = [];
  for (let index = 0; index < count; index++) {
    const number = numbers.get(index) ?? 0;
    pairs.push([names.get(number) ?? '', number]);
  }
  numbers.delete();
  names.delete();
  return pairs;
}
