import { maskSecrets } from '../log.ts';
import { isObject } from '../resource/value.ts';

/** Levels of nesting, those inside of texts included, below which nothing is shown. */
const depthMax = 64;
export const masked = '********';
/** Attribute names whose values never reach a log, in lower case. */
const secretNames = new Set(['password']);

/** The value as JSON text with every secret masked, cut to a bounded length with an ellipsis at its end. */
export function maskedJson(value: unknown, charactersMax: number): string | undefined {
  return value === undefined ? undefined : cut(maskSecrets(JSON.stringify(mask(value)) ?? ''), charactersMax);
}

/** A text that a client wrote, such as a path or a filter: masked as a whole when a secret may stand in it. */
export function maskedText(text: string, charactersMax: number): string {
  return hidesSecret(text) ? masked : cut(maskSecrets(text), charactersMax);
}

/** A query string as a person reads it; masked as a whole when it names a secret, however it is escaped. */
export function maskedQuery(query: string, charactersMax: number): string {
  const shown = decoded(query);
  return namesSecret(shown) || namesSecret(decoded(shown)) ? masked : cut(maskSecrets(shown), charactersMax);
}

/** A body that is no JSON, as text; masked as a whole when it names a secret, however that is escaped. */
export function maskedBytes(bytes: Uint8Array, charactersMax: number): string {
  const text = new TextDecoder().decode(bytes);
  const plain = text
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/[^\x20-\x7e]/g, '');
  return /password/i.test(plain) ? masked : cut(maskSecrets(text), charactersMax);
}

/** The sentence of a refusal. What it quotes of a request that names a secret may be the secret. */
export function maskedRefusal(
  detail: string,
  request: { readonly query: string | null; readonly body: unknown },
): string {
  const mayQuote = request.query === masked || /password/i.test(JSON.stringify(request.body ?? null));
  // From the first quotation mark to the last: what is quoted may have quotation marks of its own.
  const shown = mayQuote ? detail.replace(/"(?!password"[^"]*$)[\s\S]*"/i, `"${masked}"`) : detail;
  return cut(maskSecrets(shown), refusalCharactersMax);
}

const refusalCharactersMax = 1_000;

function decoded(query: string): string {
  if (!/[%+]/.test(query)) return query;
  try {
    return decodeURIComponent(query.replaceAll('+', ' '));
  } catch {
    // Half of an escape: what is whole around it can still be read.
    return query.replaceAll(/%[2-7][0-9a-f]/gi, (code) =>
      String.fromCharCode(Number.parseInt(code.slice(1), 16)),
    );
  }
}

function cut(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}

function mask(value: unknown, depth = 0): unknown {
  if (depth > depthMax) return masked;
  if (typeof value === 'string') return maskText(value, depth);
  if (Array.isArray(value)) return value.map((item) => mask(item, depth + 1));
  if (!isObject(value)) return value;
  const isSecretOperation = Object.entries(value).some(
    ([name, inner]) => name.toLowerCase() === 'path' && namesSecret(inner),
  );
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const key = name.toLowerCase();
      const isSecret =
        namesSecret(name) ||
        (key === 'value' && isSecretOperation) ||
        (key === 'filter' && namesSecret(inner));
      return [name, isSecret ? masked : mask(inner, depth + 1)];
    }),
  );
}

/** Clients send JSON inside texts; one without a secret stays as it was sent. */
function maskText(text: string, depth: number): string {
  if (!/^\s*[[{"]/.test(text)) return hidesSecret(text) ? masked : text;
  try {
    const inner: unknown = JSON.parse(text);
    const shown = JSON.stringify(mask(inner, depth + 1));
    return shown === JSON.stringify(inner) ? text : shown;
  } catch {
    return hidesSecret(text) ? masked : text;
  }
}

/** What only resembles JSON, or is a path with a filter, cannot be taken apart: the name and a quote are enough. */
function hidesSecret(text: string): boolean {
  return text.includes('"') && namesSecret(text);
}

/** A path or key in which a secret attribute stands, whatever URN is before it and whatever filter behind. */
export function namesSecret(path: unknown): boolean {
  if (typeof path !== 'string' || !/password/i.test(path)) return false;
  return path
    .toLowerCase()
    .split(/[^a-z0-9_$-]+/)
    .some((part) => secretNames.has(part));
}
