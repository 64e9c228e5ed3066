// What the tests use of Express, which brings no types of its own.
declare module 'express' {
  interface Application {
    use(path: string, handler: unknown): void;
    listen(port: number, host: string, onListening: () => void): import('node:http').Server;
  }
  export default function express(): Application;
}
