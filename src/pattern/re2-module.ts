import glueText from 're2-wasm/build/wasm/re2.js' with { type: 'text' };
import wasmPath from 're2-wasm/build/wasm/re2.wasm' with { type: 'file' };

/** Memory of one engine in pages of 64 KiB. The package fixes it: 16 MiB, full after some forty large automata. */
const memoryPages = 256;

/** One match, as the package's wrap/re2_wrap.cc gives it: `index` counts code points and is -1 for no match. */
export interface Re2Found {
  readonly match: string;
  readonly index: number;
  readonly groups: readonly (string | undefined)[];
}

interface CppObject {
  delete(): void;
}

interface CppVector<V> extends CppObject {
  size(): number;
  get(index: number): V | undefined;
}

interface CppMap<K, V> extends CppObject {
  keys(): CppVector<K>;
  get(key: K): V | undefined;
}

/** A pattern compiled in the engine's memory, until `delete`. `start` of `match` counts code points. */
export interface WrappedRe2 extends CppObject {
  ok(): boolean;
  error(): string;
  match(text: string, start: number, withGroups: boolean): Re2Found;
  capturingGroupNames(): CppMap<number, string>;
}

export interface Re2Module {
  readonly wasmMemory: WebAssembly.Memory;
  readonly WrappedRE2: new (
    pattern: string,
    ignoreCase: boolean,
    multiline: boolean,
    dotAll: boolean,
  ) => WrappedRe2;
}

/** Hands out the engine in use, and a fresh one after the last one was thrown away. */
export class Re2Engine {
  readonly #wasm: WebAssembly.Module;
  #current: Re2Module | undefined;

  constructor(wasm: WebAssembly.Module) {
    this.#wasm = wasm;
  }

  get current(): Re2Module {
    this.#current ??= instantiate(this.#wasm);
    return this.#current;
  }

  isCurrent(module: Re2Module): boolean {
    return this.#current === module;
  }

  /** To be called when a call into `module` threw: it ran out of memory and cannot be used any more. */
  discard(module: Re2Module): void {
    if (this.#current === module) this.#current = undefined;
  }
}

let loading: Promise<Re2Engine> | undefined;

/** The engine of this process, loaded on first use. */
export function loadRe2Engine(): Promise<Re2Engine> {
  loading ??= compileModule().then((wasm) => new Re2Engine(wasm));
  return loading;
}

async function compileModule(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await Bun.file(wasmPath).bytes());
}

// The package looks for its .wasm beside its script, at a path that does not exist inside an executable. Its script is
// therefore embedded as text and run as a function of ours, which gives it the compiled module, and hides from it what
// it would use to look for files (`process`, `require`) or to take the thread for a browser's.
const hidden = ['process', 'require', 'window', 'importScripts'];

function instantiate(wasm: WebAssembly.Module): Re2Module {
  const memory = new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages });
  let failure: unknown = new Error('The RE2 script did not ask for its module');
  const module = {
    wasmMemory: memory,
    print: () => {},
    printErr: () => {},
    // The script swallows what is thrown here, so it is kept for the caller.
    instantiateWasm: (imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => void) => {
      try {
        const instance = new WebAssembly.Instance(wasm, imports);
        receive(instance);
        failure = undefined;
        return instance.exports;
      } catch (error) {
        failure = error;
        throw error;
      }
    },
  };
  const run = new Function('Module', 'TextDecoder', ...hidden, String(glueText));
  run(module, FaithfulTextDecoder);
  if (failure !== undefined) throw failure;
  return module as unknown as Re2Module;
}

/** Keeps a leading byte order mark, which is a character of the text like any other. */
class FaithfulTextDecoder extends TextDecoder {
  constructor(label: string) {
    super(label, { ignoreBOM: true });
  }
}
