// Asks a source that speaks JSON over HTTP: authorization, patience with a busy server, and sentences for every refusal.
// It never sends a key to another origin than the one that was configured, and shows nobody one.

import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '../errors.ts';
import type { ConnectorContext } from './contract.ts';
import { type HttpAuth, HttpAuthorizer } from './http-auth.ts';
import { readJsonAnswer } from './json-answer.ts';

export interface HttpSourceOptions {
  readonly context: Pick<ConnectorContext, 'fetch' | 'log' | 'now' | 'signal'>;
  /** Absolute; requests go to its origin alone. */
  readonly base: string;
  readonly auth: HttpAuth;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** PEM of an authority that the system does not know. */
  readonly caCertificate?: string | undefined;
  /** Further texts that no sentence may show. */
  readonly secrets?: readonly string[];
}

export interface JsonAnswer {
  readonly body: unknown;
  readonly headers: Headers;
  /** Where the answer came from: what relative links are relative to. */
  readonly url: URL;
}

const attemptsMax = 6;
const firstDelayMs = 250;
const delayFactor = 3;
/** Longer than this no run waits because a server says so. */
const waitMsMax = 5 * 60_000;
const pageBytesMax = 64 * 1024 * 1024;
const errorBytesMax = 64 * 1024;
const busyStatuses: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** One source for one run. Methods throw DomainError with one sentence, or the reason of the run's cancellation. */
export class HttpSource {
  readonly #options: HttpSourceOptions;
  readonly #origin: string;
  readonly #authorizer: HttpAuthorizer;

  constructor(options: HttpSourceOptions) {
    const base = URL.parse(options.base);
    if (base === null || !/^https?:$/.test(base.protocol))
      throw new DomainError(
        'invalidValue',
        'The address of the source has to begin with https:// or http://.',
      );
    this.#options = options;
    this.#origin = base.origin;
    const { context, auth } = options;
    const askToken = async (url: string, init: RequestInit) =>
      (await this.#patiently(url, init, 'token')).body;
    this.#authorizer = new HttpAuthorizer(auth, { now: context.now, askToken });
    if (base.protocol === 'http:' && auth.type !== 'none')
      context.log.warn(
        'The address begins with http://: whoever sees the network sees the credentials and the people.',
      );
  }

  /** The JSON at `url`, absolute or relative to the base. A link to another origin is refused. */
  async get(url: string | URL): Promise<JsonAnswer> {
    const target = this.#requireOrigin(url);
    const request = await this.#authorized();
    try {
      return await this.#patiently(target, request, 'read');
    } catch (error) {
      const isRefused = error instanceof DomainError && error.kind === 'unauthenticated';
      if (!isRefused || !this.#authorizer.canRenew) throw error;
    }
    this.#authorizer.renew();
    return this.#patiently(target, await this.#authorized(), 'read');
  }

  async #authorized(): Promise<RequestInit> {
    return { headers: { ...this.#options.headers, ...(await this.#authorizer.headers()) } };
  }

  #requireOrigin(url: string | URL): string {
    const target = URL.parse(String(url), this.#options.base);
    if (target?.origin === this.#origin) return target.href;
    throw new DomainError(
      'forbidden',
      `${this.#origin} refers to ${target?.origin ?? 'something that is no address'}, where the credentials are not sent.`,
    );
  }

  /** Sends the request until it is answered, or refused for good. */
  async #patiently(url: string, init: RequestInit, purpose: Purpose): Promise<JsonAnswer> {
    let pauseMs = firstDelayMs;
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#once(url, init, purpose);
      if ('body' in outcome) return outcome;
      if (attempt === attemptsMax) throw outcome.fault;
      const waitMs = outcome.afterMs ?? pauseMs;
      if (waitMs > waitMsMax) throw tooLong(originOf(url), waitMs);
      this.#options.context.log.info(
        `${outcome.fault.message} Trying again in ${Math.ceil(waitMs / 1_000)} s.`,
      );
      await this.#pause(waitMs);
      pauseMs *= delayFactor;
    }
  }

  async #pause(waitMs: number): Promise<void> {
    const { signal } = this.#options.context;
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }

  async #once(url: string, init: RequestInit, purpose: Purpose): Promise<JsonAnswer | Busy> {
    const { context, caCertificate } = this.#options;
    const tls = caCertificate === undefined ? {} : { tls: { ca: caCertificate } };
    const headers = new Headers(init.headers);
    if (!headers.has('accept')) headers.set('accept', 'application/json');
    try {
      const response = await context.fetch(url, { ...init, ...tls, headers } as RequestInit);
      if (response.ok) return await this.#answer(response, url);
      return await this.#refusal(response, url, purpose);
    } catch (error) {
      context.signal.throwIfAborted();
      if (isPassing(error)) return { fault: error, afterMs: undefined };
      throw error;
    }
  }

  async #answer(response: Response, url: string): Promise<JsonAnswer> {
    const where = originOf(url);
    const body = await readJsonAnswer(response, { bytesMax: pageBytesMax, where });
    return { body, headers: response.headers, url: new URL(response.url || url) };
  }

  async #refusal(response: Response, url: string, purpose: Purpose): Promise<Busy> {
    const said = this.#withoutSecrets(await reasonOf(response));
    const fault = statusFault({ status: response.status, url, said, purpose });
    if (!busyStatuses.has(response.status)) throw fault;
    return { fault, afterMs: retryAfterMs(response.headers.get('retry-after'), this.#options.context.now()) };
  }

  #withoutSecrets(text: string): string {
    const secrets = [...this.#authorizer.secrets, ...(this.#options.secrets ?? [])];
    return secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text);
  }
}

interface Busy {
  readonly fault: DomainError;
  /** As the server asked. */
  readonly afterMs: number | undefined;
}

type Purpose = 'read' | 'token';

/** A broken connection may mend; a certificate or an unknown name does not. */
function isPassing(error: unknown): error is DomainError {
  return error instanceof DomainError && error.retryAfterSeconds !== undefined;
}

interface Refusal {
  readonly status: number;
  readonly url: string;
  readonly said: string;
  readonly purpose: Purpose;
}

/** One sentence; of the address only what cannot hold a key. */
function statusFault({ status, url, said, purpose }: Refusal): DomainError {
  const where = originOf(url);
  const words = said === '' ? '' : ` It says: ${said.replace(/[^.!?)]$/u, '$&.')}`;
  const path = URL.parse(url)?.pathname ?? '';
  if (purpose === 'token' && status < 500 && status !== 429)
    return new DomainError(
      'unauthenticated',
      `${where} refuses the client credentials (${status}). Check clientId, clientSecret and scope.${words}`,
    );
  if (status === 401)
    return new DomainError(
      'unauthenticated',
      `${where} refuses the credentials (401). Check them in the configuration.${words}`,
    );
  if (status === 403)
    return new DomainError(
      'forbidden',
      `${where} does not let these credentials read ${path} (403). Give them the right to.${words}`,
    );
  if (status === 404 || status === 410)
    return new DomainError(
      'notFound',
      `${where} has nothing at ${path} (${status}). Check the address.${words}`,
    );
  if (status === 429) return new DomainError('limitExceeded', `${where} wants fewer requests (429).${words}`);
  const kind = status === 400 ? 'invalidValue' : 'unavailable';
  return new DomainError(kind, `${where} answers ${path} with status ${status}.${words}`);
}

/** What common error bodies say: RFC 7644 §3.12, RFC 6749 §5.2, RFC 9457, Graph. Shortened, without control characters. */
async function reasonOf(response: Response): Promise<string> {
  const body = await readJsonAnswer(response, { bytesMax: errorBytesMax, where: '' }).catch(() => undefined);
  const { error_description, error, detail, title, message } = (body ?? {}) as Readonly<
    Record<string, unknown>
  >;
  const inner = (error as { readonly message?: unknown } | null | undefined)?.message;
  const text = [error_description, inner, detail, message, title, error].find(
    (each) => typeof each === 'string',
  );
  return typeof text === 'string'
    ? text
        .replace(/[\p{C}\s]+/gu, ' ')
        .trim()
        .slice(0, 200)
    : '';
}

/** RFC 9110 §10.2.3: seconds or a date. */
function retryAfterMs(header: string | null, now: Date): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}

function tooLong(where: string, waitMs: number): DomainError {
  const minutes = Math.ceil(waitMs / 60_000);
  return new DomainError(
    'limitExceeded',
    `${where} wants no further request for ${minutes} minutes. Let the connector run then.`,
  );
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'The source';
}
