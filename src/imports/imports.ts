// Imports owns the way of a profile document into the directory: intake, plan, guard, apply, and what is known of a run.
// It never writes people or groups itself: that is the directory's, through saveUsers and save-group. It sees no HTTP.
// It renders schemas/profile-sync.xsd; docs/adr/0005-import-plan-and-apply.md tells how a run survives being killed.

export const runStatuses = [
  'queued',
  'planning',
  'awaiting-approval',
  'applying',
  'completed',
  'completed-with-errors',
  'failed',
  'cancelled',
  'rejected',
  'superseded',
] as const;
export type RunStatus = (typeof runStatuses)[number];

/** In these a processor has work to do, sooner or later. */
export const activeStatuses = ['queued', 'planning', 'applying'] as const satisfies readonly RunStatus[];

export function isActive(status: RunStatus): boolean {
  return (activeStatuses as readonly RunStatus[]).includes(status);
}

/** The document has been applied as far as it could be. */
export function isCompleted(status: RunStatus): boolean {
  return status === 'completed' || status === 'completed-with-errors';
}

/** How a document came in; `rerun` and `retry`: from the archive, where passwords are masked. */
export type RunOrigin = 'upload' | 'cli' | 'drop' | 'connector' | 'rerun' | 'retry';

export function isFromArchive(origin: RunOrigin): boolean {
  return origin === 'rerun' || origin === 'retry';
}

/**
 * The steps of applying, in their order. A plan row waits for one of them, or for none. Managers come after every step
 * that writes records, because each of these leaves rows for them.
 */
export const applyPhases = [
  'groups',
  'renames',
  'users',
  'disabled',
  'managers',
  'passwords',
  'missing',
] as const;
export type ApplyPhase = (typeof applyPhases)[number];

/** Outcomes, as the run counts them. */
export const countNames = [
  'created',
  'updated',
  'reactivated',
  'disabled',
  'archived',
  'unchanged',
  'skipped',
  'groupsCreated',
  'groupsUpdated',
  'passwordsSet',
  'issues',
] as const;
export type CountName = (typeof countNames)[number];
export type Counts = { readonly [N in CountName]: number };

export const noCounts: Counts = Object.fromEntries(countNames.map((name) => [name, 0])) as Record<
  CountName,
  number
>;

export function addCounts(counts: Counts, more: Partial<Counts>): Counts {
  const sums = countNames.map((name) => [name, counts[name] + (more[name] ?? 0)] as const);
  return Object.fromEntries(sums) as Record<CountName, number>;
}

export const planActions = [
  'create',
  'update',
  'reactivate',
  'disable',
  'archive',
  'unchanged',
  'skip',
  'issue',
  'failed',
] as const;
/** What a plan row stands for. */
export type PlanAction = (typeof planActions)[number];

/** A record that could not be taken over as it stands: data, not an error. */
export interface Issue {
  /** Line of the record in the document; null where none is meant. */
  readonly line: number | null;
  /** The record's `@id`, or its username where it has none. */
  readonly recordId: string | null;
  readonly code: IssueCode;
  /** A sentence that says what is wrong and what to do. */
  readonly message: string;
}

export type IssueCode =
  | 'invalidRecord'
  | 'duplicateRecord'
  | 'ambiguousMatch'
  | 'uniqueness'
  | 'unknownGroup'
  | 'passwordRefused'
  | 'managerNotFound'
  | 'managerAmbiguous'
  | 'recordGone'
  | 'refused';
