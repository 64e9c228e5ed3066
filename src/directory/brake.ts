// The brake counts what a source ends: people whom it deactivates or archives, groups that it deletes, memberships that
// it clears or replaces. Past the source's limit within an hour it refuses more, until a Power User lets the source go on.
// It never looks at imports, which have a guard of their own, and refuses nothing else. docs/adr/0010 tells why.

import { DomainError } from '../errors.ts';
import { isArray } from '../resource/value.ts';
import type { Database, Tx } from '../storage/database.ts';
import { type BrakeState, holdSource, lockBrake, writeCounts } from './brake-store.ts';
import type { DirectoryContext } from './context.ts';
import type { JournalEntry } from './journal-store.ts';

/** The brake of the source on whose behalf something is changed. */
export interface Brake {
  readonly sourceName: string;
  /** How much the source may end within an hour; 0 for any number. */
  readonly limit: number;
  /** How much within an hour is worth a warning; 0 for no number. */
  readonly alarm: number;
  /** Is told what a Power User should know of: how much was ended within the last hour, and whether that was the end. */
  readonly note: (event: { readonly kind: 'alarm' | 'held'; readonly count: number }) => void;
}

const windowMinutes = 60;
const minuteMs = 60_000;
const retryAfterSeconds = 900;

interface Trip {
  readonly sourceId: number;
  readonly count: number;
  readonly now: string;
}

/** The change would end more than the source may. Whoever ran the transaction marks the source as held. */
class BrakeTripped extends DomainError {
  readonly brake: Brake;
  readonly sourceId: number;
  readonly count: number;
  readonly now: string;

  constructor(brake: Brake, { sourceId, count, now }: Trip) {
    super('limitExceeded', sentence(brake, `with this request it would be ${count}`), { retryAfterSeconds });
    this.brake = brake;
    this.sourceId = sourceId;
    this.count = count;
    this.now = now;
  }
}

function sentence({ sourceName, limit }: Brake, found: string): string {
  const name = JSON.stringify(sourceName);
  return (
    `The source ${name} may deactivate or delete ${limit} within an hour (users, groups, memberships): ${found}. ` +
    `Such changes are held until a Power User lets them go on, by: rollcall source release ${name}. All others go on.`
  );
}

/** Counts what these changes end, in their transaction. Throws when it is more than the source may; then nothing is changed. */
export async function countEndings(
  tx: Tx,
  { brake, sourceId, runId, now }: DirectoryContext,
  entries: readonly JournalEntry[],
): Promise<void> {
  if (brake === undefined || sourceId === null || runId !== null) return;
  let endings = 0;
  for (const entry of entries) endings += endingsOf(entry);
  if (endings === 0) return;
  const state = await lockBrake(tx, sourceId);
  checkLimit(brake, state, { endings, now });
  await writeCounts(tx, withEndings(brake, state, { endings, now }));
}

/** How many people lose something by this change. Deleting somebody who is inactive takes nothing from them. */
function endingsOf({ action, before, isSweep }: JournalEntry): number {
  if (action === 'deactivate') return 1;
  if (action === 'archive') return before?.state === 'active' ? 1 : 0;
  if (action === 'delete') return 1 + lengthOf(before?.members);
  return action === 'members.remove' && isSweep === true ? lengthOf(before?.members) : 0;
}

function lengthOf(value: unknown): number {
  return isArray(value) ? value.length : 0;
}

interface Ending {
  readonly endings: number;
  readonly now: string;
}

function checkLimit(brake: Brake, state: BrakeState, { endings, now }: Ending): void {
  if (brake.limit === 0 || isReleased(state, now)) return;
  if (state.heldSince !== null)
    throw new DomainError('limitExceeded', sentence(brake, `it is held since ${state.heldSince}`), {
      retryAfterSeconds,
    });
  const count = endedSince(state, now, state.releasedUntil) + endings;
  if (count > brake.limit) throw new BrakeTripped(brake, { sourceId: state.sourceId, count, now });
}

export function isReleased({ releasedUntil }: BrakeState, now: string): boolean {
  return releasedUntil !== null && now < releasedUntil;
}

/** Whether the source's deactivations and deletions are refused now. */
export function isHeld(state: BrakeState | undefined, limit: number, now: string): boolean {
  return state !== undefined && limit > 0 && state.heldSince !== null && !isReleased(state, now);
}

/** How much was ended within the hour before `now`. */
export function endedWithinHour(state: BrakeState, now: string): number {
  return endedSince(state, now, null);
}

function endedSince({ recent }: BrakeState, now: string, start: string | null): number {
  const first = Math.max(minuteOf(now) - windowMinutes + 1, start === null ? 0 : minuteOf(start));
  return recent.reduce((sum, [minute, count]) => (minute >= first ? sum + count : sum), 0);
}

function minuteOf(time: string): number {
  return Math.floor(Date.parse(time) / minuteMs);
}

function withEndings(brake: Brake, state: BrakeState, { endings, now }: Ending): BrakeState {
  const minute = minuteOf(now);
  const kept = state.recent.filter(([each]) => each > minute - windowMinutes && each !== minute);
  const before = state.recent.find(([each]) => each === minute)?.[1] ?? 0;
  const counted: BrakeState = {
    ...state,
    total: state.total + endings,
    recent: [...kept, [minute, before + endings]],
    heldSince: isReleased(state, now) ? null : state.heldSince,
  };
  const count = endedWithinHour(counted, now);
  const isAlarmed = state.alarmedAt !== null && minuteOf(state.alarmedAt) > minute - windowMinutes;
  if (brake.alarm === 0 || count <= brake.alarm || isAlarmed) return counted;
  brake.note({ kind: 'alarm', count });
  return { ...counted, alarmedAt: now };
}

/** `work` in a transaction; one that trips the brake changes nothing, and its source is held from then on. */
export async function writeBraked<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await database.write(work);
  } catch (error) {
    if (error instanceof BrakeTripped) await hold(database, error);
    throw error;
  }
}

async function hold(database: Database, { brake, sourceId, count, now }: BrakeTripped): Promise<void> {
  const isNew = await database.write((tx) => holdSource(tx, sourceId, now));
  if (isNew) brake.note({ kind: 'held', count });
}
