import type { DocumentStore } from '../archive/archive.ts';
import type { Clock } from '../clock.ts';
import { timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import type { SecretBox } from '../security/secret-key.ts';
import type { Configurations } from '../settings/configuration.ts';
import { findSourceById, type GeneralSource } from '../sources/source-store.ts';
import type { Database, Tx } from '../storage/database.ts';
import type { DocumentHead, GroupRecord } from '../xml/records.ts';
import { settled } from './finish.ts';
import { type GuardNumbers, guardReason } from './guard.ts';
import { isFromArchive, noCounts } from './imports.ts';
import { countActiveConcerned, listAbsent } from './match-store.ts';
import { effectiveOptions, type ImportOptions, optionsOfFile } from './options.ts';
import { PlanBuffer } from './plan-buffer.ts';
import { linkChains, resolveRelinked } from './plan-chains.ts';
import { GroupPlan, readDefaultUnits } from './plan-groups.ts';
import { planRow } from './plan-row.ts';
import { deleteIssues, deletePlanRows, insertPlanRows, phaseTotals, tallyPlan } from './plan-store.ts';
import { type Foresight, foresee } from './plan-summary.ts';
import { UserPlan } from './plan-users.ts';
import { readBeside } from './read-beside.ts';
import { digestContext } from './record-digest.ts';
import { type ReadUser, readRecords } from './record-reader.ts';
import { findRival, type Rival } from './rival-store.ts';
import { insertEvent, type RunEvent } from './run-event-store.ts';
import { findLastFullUsers, type Run, type RunChange } from './run-store.ts';
import type { RunWriter } from './run-writer.ts';
import { startApplying } from './start-applying.ts';

export interface PlannerParts {
  readonly database: Database;
  readonly documents: DocumentStore;
  readonly configurations: Configurations;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
}

/** A thread takes longer to start than to read so little. */
const besideBytesMin = 2 * 1024 * 1024;
const absentAtOnce = 500;
/** A run whose processor has died is taken up by then. */
const rivalMsMax = 60_000;
const maskedWarning = 'The archive keeps no passwords: people whom this import creates have none.';

/**
 * Plans a claimed run from nothing: reads its document, decides about every record, and leaves the run applying,
 * awaiting approval or, for a dry run, completed. Nothing of the directory is changed.
 */
export async function planRun(
  parts: PlannerParts,
  run: Run,
  writer: RunWriter,
  signal: AbortSignal,
): Promise<void> {
  const source = await requireSource(parts.database, run.sourceId);
  await discardPlan(writer, run);
  const planning = new Planning(parts, run, writer, source);
  await planning.readDocument(signal);
  await planning.finish(signal);
}

async function requireSource(database: Database, id: number): Promise<GeneralSource> {
  const source = await findSourceById(database.read, id);
  if (source?.kind === 'general') return source;
  throw new DomainError('notFound', 'The source of the import has been removed.');
}

/** Each deletion stands under the fence: by now the plan may be that of a successor. */
async function discardPlan(writer: RunWriter, { id, warnings }: Run): Promise<void> {
  writer.restart(noCounts, warnings);
  for (const deleteSome of [deletePlanRows, deleteIssues]) {
    for (let isMore = true; isMore; ) {
      await writer.commit(async (tx) => {
        isMore = await deleteSome(tx, id);
        return {};
      });
    }
  }
}

interface Reading {
  readonly options: ImportOptions;
  /** Names of the options that are the file's own. */
  readonly fromFile: readonly string[];
  readonly groups: GroupPlan;
  readonly users: UserPlan;
}

interface Judgement {
  /** Why the guard holds the run. */
  readonly reason: string | undefined;
  readonly now: string;
}

class Planning {
  readonly #parts: PlannerParts;
  readonly #run: Run;
  readonly #writer: RunWriter;
  readonly #source: GeneralSource;
  #reading: Reading | undefined;
  #seq = 0;
  readonly #warnings: string[] = [];
  readonly #buffer: PlanBuffer;
  readonly #since: string;

  constructor(parts: PlannerParts, run: Run, writer: RunWriter, source: GeneralSource) {
    this.#parts = parts;
    this.#run = run;
    this.#writer = writer;
    this.#source = source;
    this.#buffer = new PlanBuffer(writer);
    this.#since = timestamp(parts.clock);
  }

  async readDocument(signal: AbortSignal): Promise<void> {
    const { documents, configurations } = this.#parts;
    const { documentBytesMax } = (await configurations.current()).settings;
    const stream = documents.read(this.#run.document ?? '');
    const read = this.#run.bytes < besideBytesMin ? readRecords : readBeside;
    for await (const batch of read(stream, documentBytesMax)) {
      signal.throwIfAborted();
      const groups: GroupRecord[] = [];
      const users: ReadUser[] = [];
      for (const item of batch) {
        if (item.kind === 'head') this.#reading = await this.#begin(item.head);
        else if (item.kind === 'group') groups.push(item.record);
        else users.push(item);
      }
      await this.#planBatch(groups, users);
    }
    await this.#buffer.flush();
  }

  async #begin(head: DocumentHead): Promise<Reading> {
    const { database, configurations, secretBox } = this.#parts;
    const configuration = await configurations.current();
    const options = effectiveOptions(head.options, this.#source.settings);
    const { units: defaultUnits, warnings } = await readDefaultUnits(database.read, options);
    this.#warnings.push(...warnings);
    const isMasked = isFromArchive(this.#run.origin);
    if (isMasked && options.newUserPasswordBehaviour === 'file') this.#warnings.push(maskedWarning);
    const nextSeq = () => {
      this.#seq += 1;
      return this.#seq;
    };
    const common = { db: database.read, sourceId: this.#run.sourceId, nextSeq };
    const groups = new GroupPlan({ ...common, options });
    const users = new UserPlan({
      ...common,
      runId: this.#run.id,
      rules: { options, configuration, defaultUnits, isMasked },
      digestContext: digestContext(options, configuration, defaultUnits),
      groups,
      secretBox,
    });
    return { options, fromFile: optionsOfFile(head.options, options), groups, users };
  }

  async #planBatch(groupRecords: readonly GroupRecord[], userRecords: readonly ReadUser[]): Promise<void> {
    const { groups, users } = this.#required();
    const issues = groups.note(groupRecords);
    if (issues.length > 0) await this.#buffer.add({ rows: [], issues }, 0);
    if (userRecords.length === 0) return;
    // The groups of a document stand before its users.
    for await (const batch of groups.planNoted()) await this.#buffer.add(batch, batch.rows.length);
    await this.#buffer.add(await users.plan(userRecords), userRecords.length);
  }

  async finish(signal: AbortSignal): Promise<void> {
    const { database } = this.#parts;
    const { options, users } = this.#required();
    await resolveRelinked(database, this.#writer, users);
    await linkChains(database, this.#writer, users.blocked);
    await this.#planAbsent(signal);
    const tally = await tallyPlan(database.read, this.#run.id);
    const foresight = foresee(tally, this.#writer.progress.counts.issues);
    const numbers = await this.#guardNumbers(foresight);
    const reason = guardReason(numbers, this.#source.settings, this.#run);
    const counts = {
      ...noCounts,
      ...(this.#run.dryRun ? {} : foresight.settled),
      issues: foresight.counts.issues,
    };
    const plan = {
      options: JSON.stringify(options),
      planned: JSON.stringify(foresight.counts),
      phases: JSON.stringify(phaseTotals(tally)),
      warnings: JSON.stringify([...this.#writer.progress.warnings, ...this.#warnings, ...warningsOf(users)]),
      counts: JSON.stringify(counts),
    };
    const now = timestamp(this.#parts.clock);
    const event = this.#planned(numbers, reason);
    await this.#writer.update(async (tx) => {
      const next = await this.#next(tx, foresight, { reason, now });
      await insertEvent(tx, this.#run.id, event, now);
      return { ...plan, ...next };
    });
  }

  #planned(numbers: GuardNumbers, reason: string | undefined): RunEvent {
    const { guardPercent, guardMinimum, guardShrinkPercent, guardErrorPercent } = this.#source.settings;
    const limits = { guardPercent, guardMinimum, guardShrinkPercent, guardErrorPercent };
    const { fromFile } = this.#required();
    const held = reason === undefined ? {} : { reason };
    return { kind: 'planned', fromFile, guard: { ...numbers, ...limits }, ...held };
  }

  /** What the run becomes now that its plan is complete. */
  async #next(tx: Tx, { counts: planned }: Foresight, { reason, now }: Judgement): Promise<RunChange> {
    const { id, sourceId, dryRun } = this.#run;
    if (dryRun) return { ...settled('completed', now), message: reason ?? null };
    if (reason === undefined) {
      const rival = await findRival(tx, { id, sourceId, planned, plannedSince: this.#since });
      if (rival !== undefined) return this.#putBack(tx, rival, now);
      return startApplying(tx, { id, sourceId, planned }, now);
    }
    return { lease_owner: null, lease_until: null, status: 'awaiting-approval', message: reason };
  }

  /** To be planned anew, once the other run has made what this one might make as well. */
  async #putBack(tx: Tx, rival: Rival, now: string): Promise<RunChange> {
    const retryAt = rival.isOver ? null : new Date(Date.parse(now) + rivalMsMax).toISOString();
    const message = `Import ${rival.id} of another source creates people or groups as well; this one is planned again when that is over.`;
    await insertEvent(
      tx,
      this.#run.id,
      { kind: 'interrupted', reason: message, retryAt: retryAt ?? now },
      now,
    );
    const lease = { lease_owner: null, lease_until: null };
    return { ...lease, status: 'queued', planned: null, done: 0, retry_at: retryAt, message };
  }

  async #planAbsent(signal: AbortSignal): Promise<void> {
    const { options, users } = this.#required();
    const action = options.actionMissingDeletedUsers;
    if (options.mode === 'delta' || action === 'x') return;
    const query = { runId: this.#run.id, sourceId: this.#run.sourceId, withInactive: action === 'a' };
    for (let after = 0; ; ) {
      signal.throwIfAborted();
      const ids = await listAbsent(this.#parts.database.read, { ...query, after, limit: absentAtOnce });
      const last = ids.at(-1);
      if (last === undefined) return;
      after = last;
      const absent = ids.filter((id) => !users.alsoPresent.has(id));
      await this.#writer.commit(async (tx) => {
        await insertPlanRows(
          tx,
          absent.map((id) => this.#absentRow(id, action)),
        );
        return {};
      });
    }
  }

  #absentRow(userId: number, action: 'd' | 'a') {
    this.#seq += 1;
    return planRow(this.#seq, {
      kind: 'absent',
      run_id: this.#run.id,
      record_id: null,
      line: null,
      action: action === 'd' ? 'disable' : 'archive',
      phase: 'missing',
      resource_id: userId,
    });
  }

  async #guardNumbers({ ending, records, recordsInError }: Foresight): Promise<GuardNumbers> {
    const { database } = this.#parts;
    const { id: runId, sourceId } = this.#run;
    const activeUsers = await countActiveConcerned(database.read, { runId, sourceId });
    const isFull = this.#required().options.mode === 'full';
    const lastUsers = isFull ? await findLastFullUsers(database.read, sourceId) : undefined;
    return { activeUsers, ending, records, recordsInError, lastUsers };
  }

  #required(): Reading {
    if (this.#reading === undefined) throw new Error('the document began without a head');
    return this.#reading;
  }
}

const fieldsNamed = 20;

function warningsOf(users: UserPlan): string[] {
  const fields = [...users.unknownFields].slice(0, fieldsNamed);
  const named = fields.map(
    ([id, count]) =>
      `The additional field "${id.slice(0, 100)}" is not configured; it is left out (records that have it: ${count}).`,
  );
  const { foreignStates } = users;
  if (foreignStates === 0) return named;
  const foreign = `"active" of this file does not apply to users who belong to another source (${foreignStates} of them differ).`;
  return [...named, foreign];
}
