// Reads the JSON of an answer, bounded in bytes, and keeps whole numbers that a double cannot hold as their digits: an
// employee's number must not become the neighbour's.

import { DomainError } from '../errors.ts';

/** Digits that may be more than 2^53 − 1 can hold. */
const longNumber = /[:[,]\s*-?\d{16,}/;

/** Throws `payloadTooLarge`, and `unavailable` for what is not JSON. `where` is the origin, for sentences. */
export async function readJsonAnswer(
  response: Response,
  { bytesMax, where }: { readonly bytesMax: number; readonly where: string },
): Promise<unknown> {
  const text = await readText(response, bytesMax, where);
  try {
    return longNumber.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch (cause) {
    const type = (response.headers.get('content-type') ?? 'no type').replace(/[^\w/.+-].*$/s, '');
    throw new DomainError(
      'unavailable',
      `${where} answers with something that is not JSON (${type}). Check the address.`,
      {
        cause,
      },
    );
  }
}

async function readText(response: Response, bytesMax: number, where: string): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [text, bytes] = ['', 0];
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > bytesMax)
        throw new DomainError(
          'payloadTooLarge',
          `${where} sent a page of more than ${bytesMax} bytes; ask for smaller ones.`,
        );
      text += decoder.decode(chunk, { stream: true });
    }
    return (text + decoder.decode()).replace(/^\ufeff/, '');
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new DomainError('unavailable', `${where} answers in an encoding other than UTF-8.`, {
      cause: error,
    });
  }
}

function keepDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? source : value;
}
