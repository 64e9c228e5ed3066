import type { Database } from '../storage/database.ts';
import { findPlannedRecords, findRowsOfUsers, listRelinked, moveRows, updateRow } from './plan-store.ts';
import type { Blocked, UserPlan } from './plan-users.ts';
import type { RunWriter } from './run-writer.ts';

const rowsAtOnce = 500;
/** People of one chain are written in one transaction: more of them would hold up every other writer. */
const chainRowsMax = 500;

/**
 * Rows that matched by username someone whom the source knew by another `@id`: when that `@id` is in the file too, its
 * record is about that person, and the row about somebody new.
 */
export async function resolveRelinked(database: Database, writer: RunWriter, users: UserPlan): Promise<void> {
  const runId = writer.claim.id;
  for (let after = 0; ; ) {
    const rows = await listRelinked(database.read, runId, after, rowsAtOnce);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
    const formerIds = rows.flatMap((row) => row.former_id ?? []);
    const present = new Set(
      (await findPlannedRecords(database.read, runId, formerIds)).map((row) => row.record_id),
    );
    const strangers = rows.filter((row) => present.has(row.former_id));
    const changes = strangers.map((row) => ({ seq: row.seq, change: users.asCreation(row) }));
    await writer.commit(async (tx) => {
      for (const { seq, change } of changes) await updateRow(tx, runId, seq, change);
      return {};
    });
  }
}

/**
 * Rows that take the userName of someone who gives it up in the same file, each with the row that gives it up: such
 * chains and rings are applied together, or a swap would break the rule that a userName is unique. A long chain is cut,
 * and applied from the end that takes a free name; a long ring cannot be, and its rows become issues.
 */
export async function linkChains(
  database: Database,
  writer: RunWriter,
  blocked: readonly Blocked[],
): Promise<void> {
  const runId = writer.claim.id;
  const givers = new Map<number, number>();
  for (let start = 0; start < blocked.length; start += rowsAtOnce) {
    const some = blocked.slice(start, start + rowsAtOnce);
    const rows = await findRowsOfUsers(
      database.read,
      runId,
      some.map(({ holderId }) => holderId),
    );
    const givingUp = new Map(
      rows
        .filter((row) => row.name_key !== null && row.phase !== null)
        .map((row) => [row.resource_id, row.seq]),
    );
    for (const { seq, holderId } of some) {
      const other = givingUp.get(holderId);
      if (other !== undefined) givers.set(seq, other);
    }
  }
  const chains = toChains(givers).map((seqs, index) => ({ seqs, chain: index + 1 }));
  for (const some of inCommits(chains)) {
    await writer.commit(async (tx) => {
      for (const each of some) await moveRows(tx, runId, { ...each, phase: 'renames' });
      return {};
    });
  }
}

/** Chains in the order in which they are to be applied; `givers` tells for rows whose name each takes. */
export function toChains(givers: ReadonlyMap<number, number>): number[][] {
  const giving = new Set(givers.values());
  const seen = new Set<number>();
  const walk = (start: number): number[] => {
    const seqs: number[] = [];
    for (let at: number | undefined = start; at !== undefined && !seen.has(at); at = givers.get(at)) {
      seen.add(at);
      seqs.push(at);
    }
    return seqs;
  };
  const starts = [...givers.keys()].filter((seq) => !giving.has(seq));
  const open = starts.map(walk).flatMap(fromItsEnd);
  const rings = [...givers.keys()].filter((seq) => !seen.has(seq)).map(walk);
  return [...open, ...rings.filter(({ length }) => length > 0 && length <= chainRowsMax)];
}

function fromItsEnd(seqs: readonly number[]): number[][] {
  const pieces: number[][] = [];
  for (let end = seqs.length; end > 0; end -= chainRowsMax)
    pieces.push(seqs.slice(Math.max(end - chainRowsMax, 0), end));
  return pieces;
}

/** Many short chains share a transaction. */
function* inCommits<C extends { readonly seqs: readonly number[] }>(chains: readonly C[]): Generator<C[]> {
  let some: C[] = [];
  let rows = 0;
  for (const chain of chains) {
    some.push(chain);
    rows += chain.seqs.length;
    if (rows < rowsAtOnce) continue;
    yield some;
    [some, rows] = [[], 0];
  }
  if (some.length > 0) yield some;
}
