/** A user or group that a request named, changed or made. */
export interface Touched {
  readonly resourceType: 'User' | 'Group';
  readonly resourceId: number;
}

/** A correction of what a client got wrong. Values are JSON texts, cut and without secrets; absent when nobody kept them. */
export interface LoggedRepair {
  readonly code: string;
  readonly attribute: string;
  readonly from?: string;
  readonly to?: string;
  /** Of a Bulk: the operation, from 1. */
  readonly operation?: number;
}

/** An attribute of the body that was left out, and why. */
export interface LoggedIgnored {
  readonly attribute: string;
  readonly reason: string;
  readonly operation?: number;
}

/** What came of a Bulk, with the first operations that failed. */
export interface LoggedBulk {
  readonly operations: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly failures: readonly {
    readonly operation: number;
    readonly method?: string | undefined;
    readonly path?: string | undefined;
    readonly status: number;
    readonly refusal: string;
  }[];
}

/**
 * One answered request, as it is kept. Whoever makes it has masked every text that a client wrote: this folder writes
 * what it is given.
 */
export interface RequestRecord {
  /** When it came, milliseconds since 1970. */
  readonly timeMs: number;
  readonly durationMs: number;
  /** Null for a caller who did not show a token that is in force. */
  readonly sourceId: number | null;
  readonly method: string;
  /** Path below the base of the service. */
  readonly path: string;
  /** Query string, decoded; null for none. */
  readonly query: string | null;
  readonly status: number;
  readonly clientAddress: string;
  readonly requestId: string;
  readonly touched: readonly Touched[];
  /** The userName or displayName in the body: all there is to find a create by that was refused. */
  readonly name: string | null;
  /** Why it was refused, in the words that the client read. */
  readonly refusal: string | null;
  readonly repairs: readonly LoggedRepair[];
  readonly ignored: readonly LoggedIgnored[];
  /** Null for anything but a Bulk. */
  readonly bulk: LoggedBulk | null;
  /** The body as it came, and what the repairs made of it; only for a source that logs bodies. */
  readonly body: string | null;
  readonly decoded: string | null;
  /** Refused before the service looked at it: of these only so many are kept. */
  readonly isAtGate: boolean;
}

/** How long and how much is kept. */
export interface RetentionLimits {
  readonly days: number;
  readonly bodyDays: number;
  /** Bytes of the file that hold something. */
  readonly bytesMax: number;
}

const idsPerMs = 1_024;

/** Ids are made of the time at which a request was answered, so that they need no second index to be found by time. */
export function idAt(timeMs: number): number {
  return Math.floor(timeMs) * idsPerMs;
}
