import { createHash } from 'node:crypto';
import type { TypedRow } from '../directory/query-types.ts';
import { DomainError } from '../errors.ts';
import type { SecretBox } from '../security/secret-key.ts';
import type { ScimCall } from './call.ts';
import type { ListParameters } from './list-parameters.ts';

/** How long a cursor may be used, as ServiceProviderConfig announces. Nothing is kept for it meanwhile. */
export const cursorTimeoutSeconds = 3_600;

/** Far longer than any that is given. */
const cursorCharactersMax = 12_288;

interface Sealed {
  readonly issuedMs: number;
  readonly count: number;
  readonly row: TypedRow;
}

/**
 * Cursors of RFC 9865: where a list goes on, sealed under the key of the data folder and bound to the source and to all
 * of the query but what it shows. Sealed text has only unreserved characters (RFC 3986 §2.3).
 */
export class Cursors {
  readonly #box: SecretBox;

  constructor(box: SecretBox) {
    this.#box = box;
  }

  seal(call: ScimCall, endpoint: string, parameters: ListParameters, { row, count }: CursorPlace): string {
    const { id, key, type } = row;
    const sealed: Sealed = { issuedMs: Date.parse(call.context.now), count, row: { id, key, type } };
    return this.#box.seal(JSON.stringify(sealed), contextOf(call, endpoint, parameters));
  }

  /** Throws `invalidCursor`, `expiredCursor`, or `invalidCount` when the count is another than before. */
  open(call: ScimCall, endpoint: string, parameters: ListParameters, count: number): TypedRow {
    const { issuedMs, count: former, row } = this.#unsealed(call, endpoint, parameters);
    const ageMs = Date.parse(call.context.now) - issuedMs;
    if (ageMs > cursorTimeoutSeconds * 1_000) {
      const detail = `The cursor is older than ${cursorTimeoutSeconds} seconds; begin again with an empty one.`;
      throw new DomainError('expiredCursor', detail);
    }
    if (count === former) return row;
    const detail = `The page before had a count of ${former}; go on with the same, or begin again with an empty cursor.`;
    throw new DomainError('invalidCount', detail);
  }

  #unsealed(call: ScimCall, endpoint: string, parameters: ListParameters): Sealed {
    const { cursor = '' } = parameters;
    try {
      if (cursor.length > cursorCharactersMax) throw new Error('too long');
      return JSON.parse(this.#box.open(cursor, contextOf(call, endpoint, parameters))) as Sealed;
    } catch (cause) {
      const detail =
        'The cursor does not belong to this query of this source; send it with the same filter and order, or begin again with an empty one.';
      throw new DomainError('invalidCursor', detail, { cause });
    }
  }
}

interface CursorPlace {
  /** The last row that was shown. */
  readonly row: TypedRow;
  readonly count: number;
}

function contextOf(call: ScimCall, endpoint: string, parameters: ListParameters): string {
  const { filter = '', sortBy = '', sortOrder = '' } = parameters;
  const query = [endpoint, filter.trim(), sortBy.trim().toLowerCase(), sortOrder.trim().toLowerCase()];
  const digest = createHash('sha256').update(JSON.stringify(query)).digest('base64url');
  return `scim-cursor:${call.source.id}:${digest}`;
}
