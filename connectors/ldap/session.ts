// One connection to a directory: connect, TLS, bind, searches one after the other, page by page (RFC 4511, RFC 2696).
// Nothing is tried twice behind the caller's back: a new connection would be neither encrypted nor bound, and a search that
// does not end well is an error, never a shorter list. Referrals are not followed.

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Filter } from 'ldapts';
import { Frames } from './frames.ts';
import { badAnswer, connectionLost, resultFault } from './ldap-fault.ts';
import {
  bindRequest,
  type Message,
  readMessage,
  searchRequest,
  startTlsRequest,
  unbindRequest,
} from './message.ts';

export interface SessionOptions {
  /** As configured: what TLS verifies. */
  readonly host: string;
  /** What is connected to. */
  readonly address: string;
  readonly port: number;
  readonly encryption: 'starttls' | 'ldaps' | 'none';
  /** PEM; the authorities of the system when undefined. */
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
  /** How long the server may take over one page. */
  readonly timeLimitSeconds: number;
  /** Also for a directory that holds parts elsewhere: leave those out instead of failing. */
  readonly ignoreReferrals: boolean;
  readonly isActiveDirectory: boolean;
}

export interface Search {
  readonly base: string;
  readonly scope: 'base' | 'subtree';
  readonly filter: Filter;
  readonly attributes: readonly string[];
  readonly pageSize: number;
}

export type Entry = Extract<Message, { kind: 'entry' }>;
type Result = Extract<Message, { kind: 'result' }>;

const pagesMax = 10_000_000;
const emptyPagesMax = 1_000;
/** Beyond its own limit a server gets this long before it counts as silent. */
const patienceMs = 30_000;

/** A bound connection. `close` it; a cancelled run closes it by itself. */
export class Session {
  readonly #options: SessionOptions;
  #socket: Socket;
  #frames: Frames;
  #id = 0;

  private constructor(socket: Socket, options: SessionOptions) {
    this.#socket = socket;
    this.#frames = new Frames(socket);
    this.#options = options;
  }

  /** Connects and encrypts. Throws one sentence that says what to do. */
  static async open(options: SessionOptions): Promise<Session> {
    options.signal.throwIfAborted();
    const socket = connectTcp({ host: options.address, port: options.port });
    const session = new Session(socket, options);
    const onAbort = () => session.#socket.destroy(options.signal.reason);
    options.signal.addEventListener('abort', onAbort);
    socket.once('close', () => options.signal.removeEventListener('abort', onAbort));
    try {
      await opened(socket, 'connect');
      if (options.encryption === 'starttls') await session.#askForTls();
      if (options.encryption !== 'none') await session.#encrypt();
      return session;
    } catch (error) {
      session.close();
      throw session.#fault(error);
    }
  }

  /** Simple bind, anonymous without a name. */
  async bind(name: string, password: string): Promise<void> {
    const { code, text } = await this.#ask((id) => bindRequest(id, name, password));
    if (code !== 0)
      throw resultFault({ code, text, what: `to be asked by ${name || 'nobody in particular'}` });
  }

  /** The entries of a search. Throws when the answer is not whole. */
  async *search(search: Search): AsyncGenerator<Entry> {
    const { timeLimitSeconds, isActiveDirectory } = this.#options;
    let cookie = new Uint8Array();
    let emptyPages = 0;
    for (let page = 0; page < pagesMax; page++) {
      const request = { ...search, cookie, timeLimitSeconds, isDomainScoped: isActiveDirectory };
      const id = this.#send((number) => searchRequest(number, request));
      let entries = 0;
      let message = await this.#receive(id);
      for (; message.kind !== 'result'; message = await this.#receive(id)) {
        if (message.kind === 'reference') this.#refuseReference(search.base);
        else {
          entries += 1;
          yield message;
        }
      }
      if (message.code !== 0) throw resultFault({ ...message, what: `to search ${search.base}` });
      if (message.cookie === undefined || message.cookie.length === 0) return;
      cookie = Uint8Array.from(message.cookie);
      emptyPages = entries === 0 ? emptyPages + 1 : 0;
      if (emptyPages > emptyPagesMax) throw badAnswer(this.#options, 'one empty page after the other');
    }
  }

  close(): void {
    const socket = this.#socket;
    if (!socket.destroyed && socket.writable) socket.write(unbindRequest(++this.#id), () => socket.destroy());
    else socket.destroy();
  }

  async #askForTls(): Promise<void> {
    const { code, text } = await this.#ask(startTlsRequest);
    if (code !== 0) throw resultFault({ code, text, what: 'to encrypt the connection (StartTLS)' });
    if (!this.#frames.isEmpty) throw badAnswer(this.#options, 'something unencrypted after StartTLS');
  }

  async #encrypt(): Promise<void> {
    const { host, ca } = this.#options;
    this.#frames.detach();
    const name = isIP(host) === 0 ? { servername: host } : { host };
    const secure = connectTls({
      socket: this.#socket,
      ...name,
      rejectUnauthorized: true,
      ...(ca === undefined ? {} : { ca }),
    });
    this.#socket.on('error', (error) => secure.destroy(error));
    this.#socket.on('close', () => secure.destroy());
    this.#socket = secure;
    await opened(secure, 'secureConnect');
    this.#frames = new Frames(secure);
  }

  async #ask(request: (id: number) => Uint8Array): Promise<Result> {
    const message = await this.#receive(this.#send(request));
    if (message.kind !== 'result') throw badAnswer(this.#options, 'an entry that nobody asked for');
    return message;
  }

  #send(request: (id: number) => Uint8Array): number {
    this.#id += 1;
    this.#socket.write(request(this.#id));
    return this.#id;
  }

  /** The next message of the request; those of an earlier search that was left are passed over. */
  async #receive(id: number): Promise<Message> {
    for (;;) {
      const message = this.#read(this.#frames.take() ?? (await this.#frame()));
      if (message.id === 0) throw badAnswer(this.#options, 'that it closes the connection');
      if (message.id === id) return message;
      if (message.id > id) throw badAnswer(this.#options, 'an answer to a question that was not asked');
    }
  }

  #read(frame: Uint8Array): Message {
    try {
      return readMessage(frame);
    } catch (error) {
      throw badAnswer(this.#options, 'what is not LDAP', error);
    }
  }

  async #frame(): Promise<Uint8Array> {
    const limitMs = this.#options.timeLimitSeconds * 1_000 + patienceMs;
    const late = Object.assign(new Error('late'), { code: 'ETIMEDOUT' });
    const timer = setTimeout(() => this.#socket.destroy(late), limitMs);
    try {
      return await this.#frames.next();
    } catch (error) {
      throw this.#fault(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #refuseReference(base: string): void {
    if (this.#options.ignoreReferrals) return;
    throw resultFault({ code: 10, text: '', what: `to search ${base}` });
  }

  #fault(error: unknown): unknown {
    const { signal } = this.#options;
    return signal.aborted ? signal.reason : connectionLost(this.#options, error);
  }
}

const openMsMax = 20_000;

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = Object.assign(new Error('late'), { code: 'ETIMEDOUT' });
    const timer = setTimeout(() => socket.destroy(late), openMsMax);
    const closed = Object.assign(new Error('closed'), { code: 'ECONNRESET' });
    const fail = (error: unknown) => {
      clearTimeout(timer);
      reject(error);
    };
    socket.once('error', fail);
    socket.once('close', () => fail(closed));
    socket.once(event, () => {
      clearTimeout(timer);
      socket.off('error', fail);
      resolve();
    });
  });
}
