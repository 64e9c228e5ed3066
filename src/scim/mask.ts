import { maskSecrets, namesSecret } from '../log.ts';
import { isObject } from '../resource/value.ts';

/** Levels of nesting, those inside of texts included, below which nothing is shown. */
const depthMax = 64;
export const masked = '********';
/** More than the longest secret that `maskSecrets` finds: one that begins in what is shown may end behind it. */
const behindMax = 2_048;
/** Of a body that is no JSON every byte has to be looked at, on the thread that others need as well. */
const unreadBytesMax = 256 * 1_024;
/** A text longer than this is not looked through as JSON. */
const innerCharactersMax = 128 * 1_024;
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
  if (value === undefined) return undefined;
  const room = { left: charactersMax + behindMax };
  return cut(JSON.stringify(mask(value, room)) ?? '', charactersMax);
}

/** A name that a client wrote, such as a path or a filter: masked as a whole when a secret may stand in it. */
export function maskedText(text: string, charactersMax: number): string {
  return namesMoreThanSecret(text) ? masked : cut(text, charactersMax);
}

/** A query string as a person reads it; masked as a whole when it names a secret, however it is escaped. */
export function maskedQuery(query: string, charactersMax: number): string {
  const shown = decoded(query);
  return namesSecret(shown) || namesSecret(decoded(shown)) ? masked : cut(shown, charactersMax);
}

/** A body that is no JSON, as text; masked as a whole when it names a secret, however that is escaped. */
export function maskedBytes(bytes: Uint8Array, charactersMax: number): string {
  if (bytes.length > unreadBytesMax) return `[${bytes.length} bytes that are no JSON]`;
  const text = new TextDecoder().decode(bytes);
  const plain = unescaped(text).replaceAll(/[^\x20-\x7e]/g, '');
  return namesSecret(plain) || hidesSecretInBase64(text) ? masked : cut(text, charactersMax);
}

/** With the escapes of JSON for what they stand for. */
function unescaped(text: string): string {
  return text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Whether one of these sentences quotes from a request that names a secret: what it quotes may be the secret. */
export function mayQuoteSecret(
  details: readonly (string | undefined)[],
  request: { readonly query: string | null; readonly body: unknown },
): boolean {
  if (!details.some((detail) => detail?.includes('"') === true)) return false;
  return request.query === masked || namesSecret(JSON.stringify(request.body ?? null));
}

/** The sentence of a refusal, without what it quotes when that may be a secret. */
export function maskedRefusal(detail: string, mayQuote: boolean): string {
  // From the first quotation mark to the last: what is quoted may have quotation marks of its own.
  const shown = mayQuote ? detail.replace(/"(?!password"[^"]*$)[\s\S]*"/i, `"${masked}"`) : detail;
  return cut(shown, refusalCharactersMax);
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

/** Without our own secrets. Of a long text no more is looked at than is shown, and than a secret may reach beyond. */
function cut(text: string, charactersMax: number): string {
  if (text.length > charactersMax + behindMax) {
    const begun = maskSecrets(text.slice(0, charactersMax + behindMax));
    return `${begun.slice(0, -behindMax).slice(0, charactersMax)}…`;
  }
  const whole = maskSecrets(text);
  return whole.length > charactersMax ? `${whole.slice(0, charactersMax)}…` : whole;
}

/** How many characters of the result will still be looked at. */
interface Room {
  left: number;
}

function mask(value: unknown, room: Room, depth = 0): unknown {
  if (depth > depthMax) return masked;
  const shown =
    isObject(value) || Array.isArray(value) ? maskParts(value, room, depth) : maskPlain(value, depth);
  room.left -= typeof shown === 'string' ? shown.length : 1;
  return shown;
}

function maskPlain(value: unknown, depth: number): unknown {
  return typeof value === 'string' ? maskText(value, depth) : value;
}

/** Parts behind the end of what will be shown are left out. */
function maskParts(value: object, room: Room, depth: number): unknown {
  if (Array.isArray(value)) {
    const shown: unknown[] = [];
    for (const item of value) {
      if (room.left < 0) break;
      shown.push(mask(item, room, depth + 1));
    }
    return shown;
  }
  const entries = Object.entries(value);
  const isAboutSecret =
    isOperationOnSecret(entries) || isAimless(entries) || entries.some(([, inner]) => isBareSecret(inner));
  const shown: [string, unknown][] = [];
  for (const [name, inner] of entries) {
    if (room.left < 0) break;
    room.left -= name.length;
    const isSecret =
      namesSecret(name) || (isAboutSecret && !isPlain(name, inner)) || namesItInPassing(name, inner);
    shown.push([maskedName(name), isSecret ? masked : mask(inner, room, depth + 1)]);
  }
  return Object.fromEntries(shown);
}

/** A path, a filter or the like in which more stands than the name of a secret. */
function namesItInPassing(name: string, inner: unknown): boolean {
  return naming.has(keyOf(name)) && [inner].flat().some(namesMoreThanSecret);
}

/** `{"op": …, "path": "password", …}`: whatever else stands in it may be the password, whatever it is called. */
function isOperationOnSecret(entries: readonly (readonly [string, unknown])[]): boolean {
  if (!entries.some(([name]) => keyOf(name) === 'op' || keyOf(name) === 'path')) return false;
  return entries.some(([name, inner]) => {
    const key = keyOf(name);
    return key !== 'value' && key !== 'data' && namesSecret(JSON.stringify(inner) ?? '');
  });
}

/** An operation with a text and no path: nothing says what the text is, so it may be anything. */
function isAimless(entries: readonly (readonly [string, unknown])[]): boolean {
  const parts = new Map(entries.map(([name, inner]) => [keyOf(name), inner]));
  return parts.has('op') && !parts.has('path') && typeof parts.get('value') === 'string';
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
  if (hidesSecretInBase64(text)) return masked;
  if (text.length > innerCharactersMax) return mayNameSecret(text) ? masked : text;
  if (!/^\s*[[{"]/.test(text)) return hidesSecret(text) ? masked : text;
  try {
    const inner: unknown = JSON.parse(text);
    const shown = JSON.stringify(mask(inner, { left: innerCharactersMax }, depth + 1));
    return shown === JSON.stringify(inner) ? text : shown;
  } catch {
    return hidesSecret(text) ? masked : text;
  }
}

/** Texts that could be base64 (RFC 4648, both alphabets), long enough for the name of a secret with a value. */
const base64Form = /[\w+/-]{14,}/g;
const base64Layers = 3;

/** Whether something that can be read comes out of the text when it is taken for base64, and that names a secret. */
function hidesSecretInBase64(text: string, layers = base64Layers): boolean {
  const packed = text.replace(/\s+/g, '').match(base64Form) ?? [];
  return packed.some((each) => {
    // Of UTF-16 every other byte is a NUL.
    const plain = Buffer.from(each, 'base64').toString('latin1').replaceAll('\0', '');
    // What is no text, such as a photo, only looks like a name here and there.
    if (/[^\t-\r\x20-\xff]/.test(plain)) return false;
    return namesSecret(unescaped(plain)) || (layers > 1 && hidesSecretInBase64(plain, layers - 1));
  });
}

/** Too long to be taken apart: as JSON it could also name it in escapes. */
function mayNameSecret(text: string): boolean {
  return namesSecret(text) || text.includes('\\u');
}

/** What only resembles JSON, or is a path with a filter, cannot be taken apart. */
function hidesSecret(text: string): boolean {
  return valueBehind.test(text) && namesSecret(text);
}

function namesMoreThanSecret(text: unknown): boolean {
  return typeof text === 'string' && namesSecret(text) && !bareName.test(text);
}
