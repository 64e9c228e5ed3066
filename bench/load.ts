// A small HTTP client that costs the machine little: the server's processor must stay the one that limits.
// It speaks only what the measured servers answer: HTTP/1.1 with keep-alive and Content-Length (RFC 9112 §6).
// It knows nothing of SCIM.

import type { Socket } from 'bun';

export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Below the base address of the server. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
}

export interface Address {
  /** Such as `http://127.0.0.1:8080/api/v2/scim/v2`. */
  readonly baseUrl: string;
  readonly token?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface LoadOptions {
  /** Sees each answer; without it bodies are not decoded. */
  readonly onAnswer?: (answer: Answer, index: number) => void;
  /** Receives the milliseconds that each request took. */
  readonly latenciesMs?: number[];
}

interface Run {
  readonly requests: readonly Buffer[];
  readonly options: LoadOptions;
  next: number;
  answered: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const answerBytesMax = 64 * 1024 * 1024;

/** Some connections that stay open. Each sends its next request when its last one is answered. */
export class LoadClient {
  readonly #address: Address;
  readonly #connections: Connection[] = [];

  private constructor(address: Address) {
    this.#address = address;
  }

  static async open(address: Address, connections: number): Promise<LoadClient> {
    const client = new LoadClient(address);
    for (let i = 0; i < connections; i += 1)
      client.#connections.push(await Connection.open(new URL(address.baseUrl)));
    return client;
  }

  /** The requests as bytes, made beforehand so that making them is not measured. */
  prepare(requests: readonly LoadRequest[]): Buffer[] {
    return requests.map((request) => encode(this.#address, request));
  }

  /** Resolves when all are answered; rejects at an answer that is not 2xx and when a connection ends. */
  async run(requests: readonly Buffer[], options: LoadOptions = {}): Promise<void> {
    if (requests.length === 0) return;
    await this.#reopenClosed();
    await new Promise<void>((resolve, reject) => {
      const run: Run = { requests, options, next: 0, answered: 0, resolve, reject };
      for (const connection of this.#connections) connection.work(run);
    });
  }

  /** A server closes connections that have rested for long. */
  async #reopenClosed(): Promise<void> {
    for (const [i, connection] of this.#connections.entries()) {
      if (connection.isClosed) this.#connections[i] = await Connection.open(new URL(this.#address.baseUrl));
    }
  }

  async send(requests: readonly LoadRequest[], options: LoadOptions = {}): Promise<void> {
    await this.run(this.prepare(requests), options);
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

function encode({ baseUrl, token }: Address, { method, path, body }: LoadRequest): Buffer {
  const { host, pathname } = new URL(baseUrl);
  const content =
    body === undefined
      ? []
      : ['content-type: application/scim+json', `content-length: ${Buffer.byteLength(body)}`];
  const lines = [
    `${method} ${pathname.replace(/\/$/, '')}${path} HTTP/1.1`,
    `host: ${host}`,
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    'accept: application/scim+json',
    ...content,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

class Connection {
  #socket: Socket | undefined;
  isClosed = false;
  #run: Run | undefined;
  #index = 0;
  #sentMs = 0;
  #unsent: Buffer | undefined;
  #received: Buffer[] = [];
  #receivedBytes = 0;
  /** Bytes of the answer under way, once its head has been read. */
  #neededBytes = 0;

  static async open({ hostname, port }: URL): Promise<Connection> {
    const connection = new Connection();
    connection.#socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data: (_socket, chunk) => connection.#receive(chunk),
        drain: () => connection.#write(),
        close: () => {
          connection.isClosed = true;
          connection.#fail('was closed');
        },
        error: (_socket, error) => connection.#fail(error.message),
      },
    });
    return connection;
  }

  work(run: Run): void {
    this.#run = run;
    this.#sendNext(run);
  }

  close(): void {
    this.#run = undefined;
    this.#socket?.end();
  }

  #sendNext(run: Run): void {
    const request = run.requests[run.next];
    if (request === undefined) return;
    this.#index = run.next++;
    this.#sentMs = performance.now();
    this.#unsent = request;
    this.#write();
  }

  #write(): void {
    const unsent = this.#unsent;
    if (unsent === undefined || this.#socket === undefined) return;
    const written = this.#socket.write(unsent);
    this.#unsent = written < unsent.length ? unsent.subarray(Math.max(written, 0)) : undefined;
  }

  #receive(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#receivedBytes += chunk.length;
    if (this.#neededBytes === 0) this.#neededBytes = this.#readHead();
    if (this.#neededBytes === 0 || this.#receivedBytes < this.#neededBytes) return;
    const answer = Buffer.concat(this.#received);
    this.#received = [];
    this.#receivedBytes = 0;
    this.#neededBytes = 0;
    this.#finish(answer);
  }

  /** Length of the whole answer, or 0 as long as its head is not complete. */
  #readHead(): number {
    const first = this.#received.length > 1 ? Buffer.concat(this.#received) : this.#received[0];
    if (first === undefined) return 0;
    const end = first.indexOf('\r\n\r\n');
    if (end === -1) return 0;
    const head = first.toString('latin1', 0, end);
    const length =
      /\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? (/^HTTP\/1\.1 [23]04/.test(head) ? '0' : undefined);
    if (length === undefined || Number(length) > answerBytesMax) {
      this.#fail(`received an answer without a usable Content-Length: ${head}`);
      return 0;
    }
    return end + 4 + Number(length);
  }

  #finish(answer: Buffer): void {
    const run = this.#run;
    if (run === undefined) return;
    const status = Number(answer.toString('latin1', 9, 12));
    if (status < 200 || status > 299) {
      this.#fail(`received ${answer.toString('utf8').slice(0, 2_000)}`);
      return;
    }
    run.options.latenciesMs?.push(performance.now() - this.#sentMs);
    run.options.onAnswer?.(
      { status, body: answer.toString('utf8', answer.indexOf('\r\n\r\n') + 4) },
      this.#index,
    );
    run.answered += 1;
    if (run.answered === run.requests.length) run.resolve();
    else this.#sendNext(run);
  }

  #fail(what: string): void {
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined || run.answered === run.requests.length) return;
    const request = run.requests[this.#index]?.toString('utf8').slice(0, 200) ?? '';
    run.reject(new Error(`A connection ${what}\nafter: ${request}`));
  }
}
