import type { Operator } from '../security/audit.ts';
import type { Reader, Tx } from '../storage/database.ts';
import type { GuardLimits, GuardNumbers } from './guard.ts';
import type { ApplyPhase } from './imports.ts';

/** What befell a run. What its row, its plan and its issues tell already is not said here again. */
export type RunEvent =
  | { readonly kind: 'queued'; readonly file?: string }
  | { readonly kind: 'claimed' }
  | {
      readonly kind: 'planned';
      /** Options that the file itself gives. */
      readonly fromFile: readonly string[];
      readonly guard: GuardNumbers & GuardLimits;
      /** Why the guard holds the run, or would. */
      readonly reason?: string;
    }
  | { readonly kind: 'phase'; readonly phase: ApplyPhase; readonly rows: number }
  | { readonly kind: 'interrupted'; readonly reason: string; readonly retryAt: string }
  | {
      readonly kind: 'decided';
      readonly decision: 'approved' | 'rejected' | 'cancelled';
      readonly by: Operator;
    };

export type DatedEvent = RunEvent & { readonly at: string };

/** A run on a full disk is taken up again for days: from here on only what moves it is noted. */
const pausesMax = 200;
const eventsMax = 1_000;

/** Notes the event behind those that are there; the transaction holds the run's row already. */
export async function insertEvent(tx: Tx, runId: number, event: RunEvent, now: string): Promise<void> {
  const { kind, ...facts } = event;
  const last = await tx
    .selectFrom('import_event')
    .select((select) => select.fn.max('seq').as('seq'))
    .where('run_id', '=', runId)
    .executeTakeFirst();
  const seq = Number(last?.seq ?? 0) + 1;
  const isPause = kind === 'claimed' || kind === 'interrupted';
  if (seq > (isPause ? pausesMax : eventsMax)) return;
  const row = { run_id: runId, seq, at: now, kind, facts: JSON.stringify(facts) };
  await tx.insertInto('import_event').values(row).execute();
}

/** In the order in which they happened. */
export async function listEvents(db: Reader, runId: number): Promise<DatedEvent[]> {
  const rows = await db
    .selectFrom('import_event')
    .select(['at', 'kind', 'facts'])
    .where('run_id', '=', runId)
    .orderBy('seq')
    .limit(eventsMax)
    .execute();
  return rows.map(({ at, kind, facts }) => ({ ...JSON.parse(facts), kind, at }) as DatedEvent);
}
