/** Files imported with `{ type: 'text' }`: their text, also inside the executable. */
declare module '*.htm' {
  const text: string;
  export default text;
}

declare module '*.css' {
  const text: string;
  export default text;
}

declare module '*.svg' {
  const text: string;
  export default text;
}
