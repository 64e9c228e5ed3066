// The audit log: every change that a person makes to how the service works, with who, when, what, before and after.
// It knows no domain: whoever changes something says what it was. The event is written in the transaction of the change.
// Changes to people and groups stand in the journal instead. It holds no secret: tokens and passwords are named, never told.

import type { Reader, Tx } from '../storage/database.ts';
import { type AuditRow, insertAuditRow, listAuditRows } from './audit-store.ts';

/** A person at work: at the console, or at the command line of the machine. */
export interface Operator {
  readonly kind: 'administrator' | 'command';
  /** Of the account, or of the user of the operating system; absent when nobody knows. */
  readonly name?: string;
  /** The network address of a console. */
  readonly clientAddress?: string;
}

/** Someone who works on the machine itself and of whom nothing more is known. */
export const unnamedOperator: Operator = { kind: 'command' };

export type AuditAction =
  | 'source.create'
  | 'source.change'
  | 'source.token.issue'
  | 'source.token.view'
  | 'setting.change'
  | 'field.change'
  | 'persona.create'
  | 'administrator.invite'
  | 'administrator.accept'
  | 'import.approve'
  | 'import.reject'
  | 'import.cancel';

export interface AuditEvent {
  readonly action: AuditAction;
  readonly by: Operator;
  /** What it was done to: its number or name, and how a person calls it. */
  readonly subject: { readonly id: string; readonly name: string };
  /** Only what has changed. */
  readonly before?: Readonly<Record<string, unknown>>;
  readonly after?: Readonly<Record<string, unknown>>;
}

/** An event as it is shown. */
export interface AuditEntry extends Omit<AuditEvent, 'action'> {
  readonly seq: number;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly action: string;
}

export interface AuditQuery {
  /** Only events before this one: `next` of the page before. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[];
  /** Undefined at the end. */
  readonly next: number | undefined;
}

const limitMax = 500;

/** Writes the event in the transaction that does what it tells of. `now` is RFC 3339. */
export function recordAudit(tx: Tx, { action, by, subject, before, after }: AuditEvent, now: string) {
  return insertAuditRow(tx, {
    time: now,
    action,
    actor_kind: by.kind,
    actor_name: by.name ?? null,
    client_address: by.clientAddress ?? null,
    subject_id: subject.id,
    subject_name: subject.name,
    before: before === undefined ? null : JSON.stringify(before),
    after: after === undefined ? null : JSON.stringify(after),
  });
}

/** A page of the log, newest first, at most 500 entries. */
export async function listAudit(db: Reader, { before, limit }: AuditQuery): Promise<AuditPage> {
  const bounded = Math.min(limit, limitMax);
  const rows = await listAuditRows(db, { before, limit: bounded });
  const last = rows.at(-1);
  return { entries: rows.map(toEntry), next: rows.length < bounded ? undefined : last?.seq };
}

/** What differs between two states, by name: the members of `before` and of `after` that are not the same. */
export function changed(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Required<Pick<AuditEvent, 'before' | 'after'>> | undefined {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (differing.length === 0) return undefined;
  const pick = (state: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(differing.map((name) => [name, state[name] ?? null]));
  return { before: pick(before), after: pick(after) };
}

function toEntry(row: AuditRow): AuditEntry {
  return {
    seq: row.seq,
    time: row.time,
    action: row.action,
    by: {
      kind: row.actor_kind === 'administrator' ? 'administrator' : 'command',
      ...(row.actor_name === null ? {} : { name: row.actor_name }),
      ...(row.client_address === null ? {} : { clientAddress: row.client_address }),
    },
    subject: { id: row.subject_id, name: row.subject_name },
    ...(row.before === null ? {} : { before: JSON.parse(row.before) as Record<string, unknown> }),
    ...(row.after === null ? {} : { after: JSON.parse(row.after) as Record<string, unknown> }),
  };
}
