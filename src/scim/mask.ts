import { maskSecrets } from '../log.ts';
import { isObject } from '../resource/value.ts';

/** Levels of nesting, those inside of texts included, below which nothing is shown. */
const depthMax = 64;
export const masked = '********';
/** Part of the names of attributes whose values never reach a log: also of those that only a client knows. */
const secretName = /passw(?:or[dt]|d)|pwd|passphrase|secret(?!ar)/i;
/** An attribute of ours that says whether, never what. */
const harmlessName = /forcePasswordReset/gi;
/** A path without a filter or a value. */
const bareName = /^(?:urn:[\w:.-]+:)?[\w.$-]+$/i;
/** A text that is nothing but the name of a secret. */
const secretItself = /^(?:urn:[\w:.-]+:)?(?:user)?(?:passw(?:or[dt]|d)|pwd|secret)s?$/i;
/** Where a text that names a secret may go on with the secret itself. */
const valueBehind = /["'[\]=]|\s(?:eq|ne|co|sw|ew|gt|ge|lt|le)\s/i;
/** What a client writes names and filters in, in lower case. */
const naming = new Set(['path', 'filter', 'sortby', 'attributes', 'excludedattributes']);

/** The value as JSON text with every secret masked, cut to a bounded length with an ellipsis at its end. */
export function maskedJson(value: unknown, charactersMax: number): string | undefined {
  return value === undefined ? undefined : cut(maskSecrets(JSON.stringify(mask(value)) ?? ''), charactersMax);
}

/** A name that a client wrote, such as a path or a filter: masked as a whole when a secret may stand in it. */
export function maskedText(text: string, charactersMax: number): string {
  return namesMoreThanSecret(text) ? masked : cut(maskSecrets(text), charactersMax);
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
  return namesSecret(plain) ? masked : cut(maskSecrets(text), charactersMax);
}

/** The sentence of a refusal. What it quotes of a request that names a secret may be the secret. */
export function maskedRefusal(
  detail: string,
  request: { readonly query: string | null; readonly body: unknown },
): string {
  const mayQuote = request.query === masked || namesSecret(JSON.stringify(request.body ?? null));
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
  const entries = Object.entries(value);
  const isAboutSecret = isOperationOnSecret(entries) || entries.some(([, inner]) => isBareSecret(inner));
  return Object.fromEntries(
    entries.map(([name, inner]) => {
      const isSecret = namesSecret(name) || (isAboutSecret && !isPlain(name, inner));
      return [maskedName(name), isSecret ? masked : maskMember(name, inner, depth + 1)];
    }),
  );
}

function maskMember(name: string, inner: unknown, depth: number): unknown {
  const isNaming = naming.has(keyOf(name));
  return isNaming && [inner].flat().some(namesMoreThanSecret) ? masked : mask(inner, depth);
}

/** `{"op": …, "path": "password", …}`: whatever else stands in it may be the password, whatever it is called. */
function isOperationOnSecret(entries: readonly (readonly [string, unknown])[]): boolean {
  if (!entries.some(([name]) => keyOf(name) === 'op' || keyOf(name) === 'path')) return false;
  return entries.some(([name, inner]) => {
    const key = keyOf(name);
    return key !== 'value' && key !== 'data' && namesSecret(JSON.stringify(inner));
  });
}

/** `{"name": "password", "value": …}` */
function isBareSecret(inner: unknown): boolean {
  return typeof inner === 'string' && secretItself.test(inner.trim());
}

/** What may be shown of something that is about a secret: what was to be done, and to which attribute. */
function isPlain(name: string, inner: unknown): boolean {
  const key = keyOf(name);
  return (
    key === 'op' || key === 'schemas' || (key === 'path' && typeof inner === 'string') || isBareSecret(inner)
  );
}

function keyOf(name: string): string {
  return name.trim().toLowerCase();
}

function maskedName(name: string): string {
  return namesMoreThanSecret(name.trim()) ? masked : name;
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

/** What only resembles JSON, or is a path with a filter, cannot be taken apart. */
function hidesSecret(text: string): boolean {
  return valueBehind.test(text) && namesSecret(text);
}

function namesMoreThanSecret(text: unknown): boolean {
  return namesSecret(text) && !bareName.test(String(text));
}

/** Whether a secret attribute is named, whatever URN is before it and whatever filter behind. */
export function namesSecret(text: unknown): boolean {
  return typeof text === 'string' && secretName.test(text) && secretName.test(text.replace(harmlessName, ''));
}
