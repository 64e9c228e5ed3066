import { admitted } from '../http/surface.ts';
import type { Log } from '../log.ts';
import { isObject } from '../resource/value.ts';
import { traceOf } from './call.ts';

const bodyCharactersMax = 8_192;
const entriesMax = 50;
/** Levels of nesting, those inside of texts included, below which nothing is shown. */
const depthMax = 64;
const masked = '********';
/** Attribute names whose values never reach a log, in lower case. */
const secretNames = new Set(['password']);

/**
 * One line for each SCIM call: what came, what it was mended to, what was left out. With Log Request Body on, the body
 * as well. It answers "what did the identity provider send for this user".
 */
export function logCall(log: Log, request: Request, response: Response, durationMs: number): void {
  const { principal, path, requestId, clientAddress } = admitted(request);
  const trace = traceOf(request);
  const source = principal.kind === 'source' ? principal.source : undefined;
  const fields = {
    requestId,
    source: source?.id,
    method: request.method,
    path,
    status: response.status,
    durationMs: Math.round(durationMs * 100) / 100,
    clientAddress,
    ...(trace.repairs.length > 0 ? { repairs: trace.repairs.slice(0, entriesMax) } : {}),
    ...(trace.ignored.length > 0 ? { ignored: trace.ignored.slice(0, entriesMax) } : {}),
    ...(trace.bulk === undefined ? {} : { bulk: trace.bulk }),
    ...(trace.refusal === undefined ? {} : { refusal: trace.refusal }),
    ...(source?.kind === 'scim' && source.settings.logBodies ? { body: maskedBody(trace.body) } : {}),
  };
  log.info(fields, 'scim');
}

/** The body as text with every secret masked, cut to a bounded length. */
export function maskedBody(body: unknown): string | undefined {
  return body === undefined ? undefined : JSON.stringify(mask(body)).slice(0, bodyCharactersMax);
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
      const isSecret = namesSecret(name) || (isSecretOperation && name.toLowerCase() === 'value');
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
function namesSecret(path: unknown): boolean {
  if (typeof path !== 'string') return false;
  return path
    .toLowerCase()
    .split(/[^a-z0-9_$-]+/)
    .some((part) => secretNames.has(part));
}
