import type { Database } from '../storage/database.ts';
import {
  findPlannedRecords,
  findRowsOfUsers,
  listRelinked,
  moveRows,
  type PlanRow,
  updateRow,
} from './plan-store.ts';
import type { Blocked, UserPlan } from './plan-users.ts';
import type { RunWriter } from './run-writer.ts';

const rowsAtOnce = 500;
/** People of one chain are written in one transaction: a longer one would hold up every other writer. */
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
    const creations = strangers.map((row) => ({ row, ordinal: users.nextOrdinal() }));
    for (const { row } of creations) users.blocked.push({ seq: row.seq, holderId: row.resource_id ?? 0 });
    await writer.commit(async (tx) => {
      for (const { row, ordinal } of creations) await updateRow(tx, runId, row.seq, asCreation(row, ordinal));
      return {};
    });
  }
}

function asCreation(row: PlanRow, ordinal: number) {
  const payload = { state: 'active', ...JSON.parse(row.payload ?? '{}') };
  return {
    action: 'create',
    phase: 'users',
    resource_id: null,
    former_id: null,
    ordinal,
    changed: null,
    payload: JSON.stringify(payload),
  };
}

/**
 * Rows that take the userName of someone who gives it up in the same file, each with the row that gives it up: such
 * chains and rings are applied together, or a swap would break the rule that a userName is unique.
 */
export async function linkChains(
  database: Database,
  writer: RunWriter,
  blocked: readonly Blocked[],
): Promise<void> {
  const runId = writer.claim.id;
  const chains = new Chains();
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
      if (other !== undefined) chains.join(seq, other);
    }
  }
  for (const [index, seqs] of chains.lists().entries()) {
    if (seqs.length > chainRowsMax) continue;
    await writer.commit(async (tx) => {
      await moveRows(tx, runId, { seqs, phase: 'renames', chain: index + 1 });
      return {};
    });
  }
}

/** Sets of rows that belong together, found by joining pairs. */
class Chains {
  readonly #parents = new Map<number, number>();

  join(one: number, other: number): void {
    const [a, b] = [this.#root(one), this.#root(other)];
    this.#parents.set(Math.max(a, b), Math.min(a, b));
  }

  /** In the order of their first rows. */
  lists(): number[][] {
    const lists = new Map<number, number[]>();
    for (const seq of [...this.#parents.keys()].toSorted((a, b) => a - b)) {
      const root = this.#root(seq);
      lists.set(root, [...(lists.get(root) ?? []), seq]);
    }
    return [...lists.values()].filter((seqs) => seqs.length > 1);
  }

  #root(seq: number): number {
    let at = seq;
    if (!this.#parents.has(at)) this.#parents.set(at, at);
    for (let parent = this.#parents.get(at) ?? at; parent !== at; parent = this.#parents.get(at) ?? at)
      at = parent;
    return at;
  }
}
