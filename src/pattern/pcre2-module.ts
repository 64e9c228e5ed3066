import wasmPath from './pcre2.wasm' with { type: 'file' };

/**
 * How often PCRE2 may call its internal match step for one text. A fair password regex takes a few hundred; one that
 * backtracks without end is stopped here after about 10 ms, and not after minutes.
 */
export const matchLimit = 100_000;

/** How many backtracking points may be open at once. */
export const depthLimit = 10_000;

/** Memory for backtracking points, in KiB; kept for the next match. */
export const heapLimitKib = 4_096;

/** The functions of scripts/pcre2/shim.c. Addresses and lengths are bytes in `memory`; address 0 means failure. */
export interface Pcre2Module {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  allocate(sizeBytes: number): number;
  release(address: number): void;
  prepare(matchLimit: number, depthLimit: number, heapLimitKib: number): number;
  compile(address: number, lengthBytes: number): number;
  compile_error_code(): number;
  compile_error_offset(): number;
  release_code(code: number): void;
  error_message(code: number, address: number, sizeBytes: number): number;
  match(code: number, address: number, lengthBytes: number): number;
  version(): number;
}

let loading: Promise<Pcre2Module> | undefined;

/** The one instance of the engine, loaded on first use. */
export function loadPcre2Module(): Promise<Pcre2Module> {
  loading ??= instantiate();
  return loading;
}

async function instantiate(): Promise<Pcre2Module> {
  const { instance } = await WebAssembly.instantiate(await Bun.file(wasmPath).bytes());
  const module = instance.exports as unknown as Pcre2Module;
  module._initialize();
  if (module.prepare(matchLimit, depthLimit, heapLimitKib) === 0) {
    throw new Error('PCRE2 has no memory to start with');
  }
  return module;
}
