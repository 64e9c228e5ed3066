// The log: one JSON object a line, on stderr, so that stdout stays for the answer of a command.
// It never writes text under a field name that is not listed here, nor anything that has the form of one of our tokens.
// Control characters never reach the terminal or file: a client cannot forge a line, nor a colour.

import pino from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Fields are facts, the message is a fixed phrase. Errors go under `err`. */
export interface Log {
  /** Whether `debug` writes: where it does not, the fields need not be put together. */
  readonly writesDebug: boolean;
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Whether lines of this level are written: what would only be thrown away need not be put together. */
  isEnabled(level: LogLevel): boolean;
  /** A log that adds `fields` to every line. */
  child(fields: object): Log;
}

/** Where lines go; each ends with a line feed. */
export interface LogDestination {
  write(line: string): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  /** Absent: stderr. */
  readonly destination?: LogDestination;
}

/** Names under which text is written. Numbers, truth values and null are written under any name. */
const textFields = new Set(
  (
    'action actor address archive attribute body bulk checks clientAddress code command connector counts detail dialect ' +
    'document err event from groupId host ignored importId kind line method migration migrations mode name origin ' +
    'outcome path phase pid port processor reason record refusal repairs requestId resource resourceType role runId ' +
    'scimType sha256 signal source sourceId sourceName state status surface to type url userId version warnings'
  ).split(' '),
);
/** Names that every line has: a field of that name would stand in it twice. */
const reservedFields = new Set(['level', 'time', 'message']);

const withheld = '[withheld]';
const textCharactersMax = 16_384;
const itemsMax = 100;
const depthMax = 6;
const causesMax = 3;

/** A log that writes lines of `level` and above, at once: nothing is lost when the process is killed. */
export function createLog({ level, destination }: LogOptions): Log {
  const options = {
    level,
    base: null,
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    // Errors are described by `clean`; the serializer of the library would write all of their members.
    serializers: { err: (described: unknown) => described },
  };
  return over(pino(options, destination ?? pino.destination({ dest: 2, sync: true })));
}

function over(logger: pino.Logger): Log {
  const write = (level: LogLevel) => (fields: object, message: string) => {
    if (logger.isLevelEnabled(level)) logger[level](loggable(fields), cleanText(message));
  };
  return {
    writesDebug: logger.isLevelEnabled('debug'),
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    isEnabled: (level) => logger.isLevelEnabled(level),
    child: (fields) => over(logger.child(loggable(fields))),
  };
}

function loggable(fields: object): Record<string, unknown> {
  const entries = Object.entries(fields)
    .slice(0, itemsMax)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [reservedFields.has(name) ? `${name}_` : name, fieldValue(name, value)]);
  return Object.fromEntries(entries);
}

function fieldValue(name: string, value: unknown): unknown {
  const isPlain = value === null || ['number', 'boolean', 'bigint'].includes(typeof value);
  return isPlain || textFields.has(name) ? clean(value, 0) : withheld;
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return describeError(value, 0);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (depth >= depthMax) return '[deeper]';
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((item) => clean(item, depth + 1));
  const entries = Object.entries(value).slice(0, itemsMax);
  return Object.fromEntries(entries.map(([name, inner]) => [cleanText(name), clean(inner, depth + 1)]));
}

/** An error has other members too, such as the parameters of a query: only these are written. */
function describeError(error: Error, causes: number): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const { code, kind } = error as { code?: unknown; kind?: unknown };
  return {
    type: cleanText(name),
    message: cleanText(message),
    ...(typeof code === 'string' ? { code: cleanText(code) } : {}),
    ...(typeof kind === 'string' ? { kind: cleanText(kind) } : {}),
    ...(stack === undefined ? {} : { stack: cleanText(stack) }),
    ...(cause instanceof Error && causes < causesMax ? { cause: describeError(cause, causes + 1) } : {}),
  };
}

/** JSON escapes C0 by itself; these are the other characters at which a reader may break a line or obey an order. */
const unsafe = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function cleanText(text: string): string {
  const cut = text.length > textCharactersMax ? `${text.slice(0, textCharactersMax)}…` : text;
  return maskSecrets(cut).replace(
    unsafe,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Part of the names of what is secret, in whatever system; "secretary" is none. */
const secretName = /passw(?:or[dt]|d)|pwd|passphrase|secret(?!ar)/i;
/** Names of ours that say whether or whence, never what. */
const harmlessNames = /forcePasswordReset|newUserPasswordBehaviour/gi;

/** Whether something secret is named in the text: what stands beside it may be the secret. */
export function namesSecret(text: string): boolean {
  return secretName.test(text) && secretName.test(text.replace(harmlessNames, ''));
}

/** `text` without our own tokens, the password of any address in it, and what is called a password by a path or query. */
export function maskSecrets(text: string): string {
  return text
    .replace(/((?:passw(?:or[dt]|d)|pwd)[=/:]+)[^\s"]+/gi, '$1********')
    .replace(/rollcall_([a-z]+)_[\w-]{8,}/g, 'rollcall_$1_********')
    .replace(/([a-z][a-z0-9+.-]{0,30}:\/\/[^\s/@:]{0,256}):[^\s/]{1,1024}@/gi, '$1:********@');
}
