// Cuts the bytes of a connection into LDAP messages, and lets the server wait while nobody takes them.

import type { Socket } from 'node:net';

/** An entry with a group's hundred thousand members takes some 10 MB. */
const frameBytesMax = 256 * 1024 * 1024;
const framesWaitingMax = 1_000;

/** Frames of one socket, one after the other. `next` is called by one caller at a time. */
export class Frames {
  #socket: Socket;
  #parts: Buffer[] = [];
  #bytes = 0;
  #needed = 2;
  #frames: Uint8Array[] = [];
  #waiting: { resolve: (frame: Uint8Array) => void; reject: (error: unknown) => void } | undefined;
  #fault: unknown;
  readonly #onData = (chunk: Buffer) => this.#take(chunk);
  readonly #onError = (error: unknown) => this.#fail(error);
  readonly #onClose = () => this.#fail(Object.assign(new Error('closed'), { code: 'ECONNRESET' }));

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', this.#onData).on('error', this.#onError).on('close', this.#onClose);
  }

  /** A frame that is already there. */
  take(): Uint8Array | undefined {
    const frame = this.#frames.shift();
    if (frame !== undefined && this.#frames.length === 0) this.#socket.resume();
    return frame;
  }

  /** Waits for a frame when there is none to take. Throws what ended the connection, or a fault with the code `EBADFRAME`. */
  next(): Promise<Uint8Array> {
    const frame = this.take();
    if (frame !== undefined) return Promise.resolve(frame);
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** Whether bytes have come that nobody has asked for: before TLS begins there may be none (RFC 4511 §4.14.1). */
  get isEmpty(): boolean {
    return this.#frames.length === 0 && this.#bytes === 0;
  }

  /** Leaves the socket to someone else. */
  detach(): void {
    this.#socket.off('data', this.#onData).off('error', this.#onError).off('close', this.#onClose);
  }

  #take(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return;
    let rest = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts);
    for (;;) {
      const length = frameLength(rest);
      if (length === 'garbage') {
        this.#fail(badFrame());
        return;
      }
      this.#needed = length ?? rest.length + 1;
      if (length === undefined || rest.length < length) break;
      this.#give(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    this.#parts = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
  }

  #give(frame: Uint8Array): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#frames.push(frame);
    else waiting.resolve(frame);
    if (this.#frames.length > framesWaitingMax) this.#socket.pause();
  }

  #fail(error: unknown): void {
    this.#fault ??= error;
    this.#waiting?.reject(this.#fault);
    this.#waiting = undefined;
  }
}

function badFrame(): Error {
  return Object.assign(new Error('not LDAP'), { code: 'EBADFRAME' });
}

/** Bytes of the frame that begins here, undefined while its length is not there yet. */
function frameLength(bytes: Buffer): number | undefined | 'garbage' {
  const [tag, first] = bytes;
  if (tag === undefined) return undefined;
  if (tag !== 0x30) return 'garbage';
  if (first === undefined) return undefined;
  if (first < 0x80) return 2 + first;
  const count = first - 0x80;
  if (count < 1 || count > 4) return 'garbage';
  if (bytes.length < 2 + count) return undefined;
  const length = bytes.readUIntBE(2, count);
  return length > frameBytesMax ? 'garbage' : 2 + count + length;
}
