// How a source over HTTP is told who asks: a header, a name and password (RFC 7617), a token (RFC 6750), or client
// credentials (RFC 6749 §4.4), whose token is kept for the run and fetched anew once when it is refused.

import { type Static, Type } from '@sinclair/typebox';
import { DomainError } from '../errors.ts';

const text = { maxLength: 4_096 };
const secret = { maxLength: 20_000, writeOnly: true };

export const authSchema = Type.Object(
  {
    type: Type.Unsafe<'none' | 'header' | 'basic' | 'bearer' | 'client-credentials'>({
      type: 'string',
      enum: ['none', 'header', 'basic', 'bearer', 'client-credentials'],
      default: 'none',
      title: 'Kind',
      description:
        'none, a header of its own, name and password (basic), a token (bearer), or OAuth client credentials.',
    }),
    header: Type.Optional(
      Type.String({ ...text, title: 'Header', description: 'Name of the header, as X-Api-Key.' }),
    ),
    value: Type.Optional(Type.String({ ...secret, title: 'Value', description: 'What the header says.' })),
    username: Type.Optional(Type.String({ ...text, title: 'Name', description: 'For basic.' })),
    password: Type.Optional(Type.String({ ...secret, title: 'Password', description: 'For basic.' })),
    token: Type.Optional(Type.String({ ...secret, title: 'Token', description: 'For bearer.' })),
    tokenUrl: Type.Optional(
      Type.String({
        ...text,
        title: 'Token address',
        description: 'Where client credentials become a token.',
      }),
    ),
    clientId: Type.Optional(
      Type.String({ ...text, title: 'Client id', description: 'For client credentials.' }),
    ),
    clientSecret: Type.Optional(
      Type.String({ ...secret, title: 'Client secret', description: 'For client credentials.' }),
    ),
    scope: Type.Optional(
      Type.String({
        ...text,
        title: 'Scope',
        description: 'Scopes with spaces between them, where they are wanted.',
      }),
    ),
    sendSecretAs: Type.Unsafe<'basic' | 'body'>({
      type: 'string',
      enum: ['basic', 'body'],
      default: 'basic',
      title: 'Secret goes into',
      description: 'The Authorization header (basic), or the form (body) where the service wants it so.',
    }),
  },
  {
    additionalProperties: false,
    default: {},
    title: 'Who asks',
    description: 'What the source wants to be shown.',
  },
);

export type HttpAuth = Static<typeof authSchema>;

/** Sends one request without any authorization and gives the answer's JSON; throws sentences. */
export type AskToken = (url: string, init: RequestInit) => Promise<unknown>;

const earlyMs = 30_000;
const tokenCharactersMax = 20_000;

/** Headers for the requests of one run. */
export class HttpAuthorizer {
  readonly #auth: HttpAuth;
  readonly #now: () => Date;
  readonly #askToken: AskToken;
  #token: { readonly text: string; readonly untilMs: number } | undefined;

  /** Throws `invalidValue` with a sentence that names the member that is missing. */
  constructor(auth: HttpAuth, { now, askToken }: { readonly now: () => Date; readonly askToken: AskToken }) {
    for (const name of needed[auth.type])
      if ((auth[name] ?? '') === '')
        throw new DomainError('invalidValue', `auth.type is ${auth.type}, so auth.${name} is needed.`);
    this.#auth = auth;
    this.#now = now;
    this.#askToken = askToken;
  }

  /** Whether a refused request may be sent once more with a new token. */
  get canRenew(): boolean {
    return this.#auth.type === 'client-credentials';
  }

  /** What must not be shown to anybody. */
  get secrets(): readonly string[] {
    const { value, password, token, clientSecret, username, clientId = '' } = this.#auth;
    const basic = password === undefined ? undefined : toBasic(username ?? '', password);
    const client =
      clientSecret === undefined ? undefined : toBasic(formEncoded(clientId), formEncoded(clientSecret));
    const all = [value, password, token, clientSecret, basic, client, this.#token?.text];
    return all.filter((each): each is string => each !== undefined && each.length > 0);
  }

  /** Forgets the token, so that the next request fetches a new one. */
  renew(): void {
    this.#token = undefined;
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const { type, header = '', value = '', username = '', password = '', token = '' } = this.#auth;
    if (type === 'header') return { [header]: value };
    if (type === 'basic') return { authorization: `Basic ${toBasic(username, password)}` };
    if (type === 'bearer') return { authorization: `Bearer ${token}` };
    return type === 'none' ? {} : { authorization: `Bearer ${await this.#currentToken()}` };
  }

  async #currentToken(): Promise<string> {
    const nowMs = this.#now().getTime();
    if (this.#token === undefined || this.#token.untilMs <= nowMs)
      this.#token = await this.#fetchToken(nowMs);
    return this.#token.text;
  }

  async #fetchToken(nowMs: number): Promise<{ readonly text: string; readonly untilMs: number }> {
    const { tokenUrl = '', clientId = '', clientSecret = '', scope, sendSecretAs } = this.#auth;
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope ? { scope } : {}) });
    const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
    if (sendSecretAs === 'body') {
      form.set('client_id', clientId);
      form.set('client_secret', clientSecret);
    } else headers.authorization = `Basic ${toBasic(formEncoded(clientId), formEncoded(clientSecret))}`;
    const answer = (await this.#askToken(tokenUrl, { method: 'POST', headers, body: form.toString() })) as {
      readonly access_token?: unknown;
      readonly expires_in?: unknown;
    } | null;
    const text = answer?.access_token;
    if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text) || text.length > tokenCharactersMax)
      throw new DomainError('unavailable', `${originOf(tokenUrl)} answers without a token (access_token).`);
    const seconds = Number(answer?.expires_in ?? 3_600);
    return { text, untilMs: nowMs + (Number.isFinite(seconds) ? seconds : 3_600) * 1_000 - earlyMs };
  }
}

const needed: Readonly<Record<HttpAuth['type'], readonly (keyof HttpAuth)[]>> = {
  none: [],
  header: ['header', 'value'],
  basic: ['username', 'password'],
  bearer: ['token'],
  'client-credentials': ['tokenUrl', 'clientId', 'clientSecret'],
};

function toBasic(name: string, password: string): string {
  return Buffer.from(`${name}:${password}`).toString('base64');
}

/** RFC 6749 §2.3.1 wants name and secret encoded as in a form. */
function formEncoded(value: string): string {
  return new URLSearchParams({ '': value }).toString().slice(1);
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? 'The token address';
}
