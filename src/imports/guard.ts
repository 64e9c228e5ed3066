import type { GeneralSettings } from '../sources/source-settings.ts';

export interface GuardNumbers {
  /** Active users of the source before the run, and those of nobody who are in its file. */
  readonly activeUsers: number;
  /** Users whom the run would disable, archive, or both. */
  readonly ending: number;
  readonly records: number;
  readonly recordsInError: number;
  /** Users of the last full document that was applied; undefined for the first, and for a delta. */
  readonly lastUsers: number | undefined;
}

export type GuardLimits = Pick<
  GeneralSettings,
  'guardPercent' | 'guardMinimum' | 'guardShrinkPercent' | 'guardErrorPercent'
>;

/** Why a person should look at the plan before it is applied, and how to decide; undefined when nothing speaks against it. */
export function guardReason(
  numbers: GuardNumbers,
  limits: GuardLimits,
  { id, dryRun }: { readonly id: number; readonly dryRun: boolean },
): string | undefined {
  const reasons = [
    endingReason(numbers, limits),
    shrinkReason(numbers, limits),
    errorReason(numbers, limits),
  ];
  const found = reasons.filter((reason) => reason !== undefined);
  if (found.length === 0) return undefined;
  if (dryRun) return `It would have to wait for approval: ${found.join('; ')}.`;
  const decide = `"rollcall run approve ${id}" lets it go on, "rollcall run reject ${id}" ends it`;
  return `The import waits for approval: ${found.join('; ')}. ${decide}.`;
}

function endingReason(
  { activeUsers, ending }: GuardNumbers,
  { guardPercent, guardMinimum }: GuardLimits,
): string | undefined {
  const limit = Math.max(guardMinimum, (activeUsers * guardPercent) / 100);
  if (ending === 0 || ending < limit) return undefined;
  return `it would disable or archive ${ending} of ${activeUsers} active users (limit ${Math.ceil(limit)})`;
}

function shrinkReason(
  { records, lastUsers }: GuardNumbers,
  { guardShrinkPercent }: GuardLimits,
): string | undefined {
  if (lastUsers === undefined || records >= lastUsers) return undefined;
  if (records > (lastUsers * (100 - guardShrinkPercent)) / 100) return undefined;
  return `the file has ${records} users, the last one had ${lastUsers} (limit ${guardShrinkPercent} % fewer)`;
}

function errorReason(
  { records, recordsInError }: GuardNumbers,
  { guardErrorPercent }: GuardLimits,
): string | undefined {
  if (recordsInError * 100 <= records * guardErrorPercent) return undefined;
  return `${recordsInError} of ${records} records are in error (limit ${guardErrorPercent} %)`;
}
