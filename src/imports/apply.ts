import type { Application } from './application.ts';
import { applyAbsentRows } from './apply-absent.ts';
import { applyWaiting } from './apply-batch.ts';
import { applyGroupRows } from './apply-groups.ts';
import { applyManagers } from './apply-managers.ts';
import { applyPasswords } from './apply-passwords.ts';
import { applyRenames } from './apply-renames.ts';
import { applyUserRows } from './apply-users.ts';
import { type ApplyPhase, applyPhases } from './imports.ts';
import { countWaiting } from './plan-store.ts';

const phases: Readonly<Record<ApplyPhase, (application: Application) => Promise<void>>> = {
  groups: (application) => applyWaiting(application, 'groups', applyGroupRows),
  renames: applyRenames,
  users: (application) => applyWaiting(application, 'users', applyUserRows),
  disabled: (application) => applyWaiting(application, 'disabled', applyUserRows),
  managers: applyManagers,
  passwords: applyPasswords,
  missing: (application) => applyWaiting(application, 'missing', applyAbsentRows),
};

/** Applies the plan of a run from where it stands. Throws the signal's reason when it is aborted, at a row border. */
export async function applyRun(application: Application): Promise<void> {
  const { database, run, writer } = application;
  const first = applyPhases.indexOf(run.phase ?? 'groups');
  for (const phase of applyPhases.slice(first)) {
    const isResumed = phase === run.phase && run.cursor > 0;
    if (!isResumed) await writer.enter(phase, (counted) => countWaiting(database.read, run.id, counted));
    await phases[phase](application);
  }
}
