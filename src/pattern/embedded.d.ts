/** A WebAssembly file imported with `{ type: 'file' }`: its path, on disk or inside the executable. */
declare module '*.wasm' {
  const path: string;
  export default path;
}
