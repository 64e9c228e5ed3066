import { DomainError } from '../errors.ts';
import { readBody } from '../http/read-body.ts';
import { type JsonBounds, readJson, scimJsonBounds } from '../resource/json.ts';
import type { ScimValue } from '../resource/value.ts';
import type { ScimCall } from './call.ts';

const mediaTypes = new Set(['application/scim+json', 'application/json']);

/** Bytes to JSON: the first step of the decode pipeline (RFC 7644 §3.1 names the media types). */
export async function readScimBody(
  request: Request,
  call: ScimCall,
  bounds: JsonBounds = scimJsonBounds,
): Promise<ScimValue> {
  requireJson(request.headers.get('content-type'));
  requireNoEncoding(request.headers.get('content-encoding'));
  const { scimBodyBytesMax } = call.context.configuration.settings;
  const bytesMax = bounds === scimJsonBounds ? scimBodyBytesMax : bounds.documentBytesMax;
  const bytes = await readBody(request, bytesMax);
  call.trace.unread = bytes;
  const body = readJson(bytes, { ...bounds, documentBytesMax: bytesMax });
  call.trace.body = body;
  return body;
}

function requireNoEncoding(contentEncoding: string | null): void {
  if (contentEncoding === null || /^\s*(?:identity)?\s*$/i.test(contentEncoding)) return;
  const detail = 'Send the body without Content-Encoding: it is taken as it is, not compressed.';
  throw new DomainError('unsupportedMediaType', detail);
}

function requireJson(contentType: string | null): void {
  const [mediaType = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (mediaTypes.has(mediaType.trim()) && isUtf8) return;
  const detail = 'Send the body as application/scim+json (or application/json) in UTF-8.';
  throw new DomainError('unsupportedMediaType', detail);
}
