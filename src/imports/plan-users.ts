import { isTooLongForKey } from '../directory/key-length.ts';
import { findLinks } from '../directory/source-link-store.ts';
import type { User } from '../directory/user.ts';
import { selectUsers } from '../directory/user-store.ts';
import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { checkPassword } from '../security/password-rule.ts';
import type { SecretBox } from '../security/secret-key.ts';
import type { Reader } from '../storage/database.ts';
import { toBoolean, type UserRecord } from '../xml/records.ts';
import { IdSet, TextSet } from './compact-set.ts';
import type { Issue, IssueCode, PlanAction } from './imports.ts';
import { findGroupFacts, type GroupFacts, type UserFacts } from './match-store.ts';
import { type GroupNumber, type GroupPlan, mayLeave, type UserGroups } from './plan-groups.ts';
import { Matcher } from './plan-match.ts';
import { planRow } from './plan-row.ts';
import type { NewPlanRow, PlanRow } from './plan-store.ts';
import { applyProfileChange, changedNames, type ProfileChange } from './profile-change.ts';
import { type RecordRules, toProfileChange } from './profile-record.ts';
import { missingDigest, recordDigest } from './record-digest.ts';
import type { ReadUser } from './record-reader.ts';

/** What a plan row of kind `user` carries. */
export interface UserPayload {
  readonly change: ProfileChange;
  /** Absent: `active` stays as it is. */
  readonly state?: 'active' | 'inactive';
  /** As the record has it; null for none any more; absent: it stays. */
  readonly manager?: string | null;
  /** All memberships besides the units; absent: they stay. */
  readonly groups?: readonly GroupNumber[];
  /** A new user gets a password that nobody knows. */
  readonly randomPassword?: true;
  /** Of one who may turn out to be somebody new: the record wants them disabled. */
  readonly isDisabled?: true;
}

/** The context to which a password in the plan is bound. */
export function passwordContext(runId: number, seq: number): string {
  return `import_plan:${runId}:${seq}`;
}

export interface UserPlanParts {
  readonly db: Reader;
  readonly runId: number;
  readonly sourceId: number;
  readonly rules: RecordRules;
  readonly digestContext: string;
  readonly groups: GroupPlan;
  readonly secretBox: SecretBox;
  readonly nextSeq: () => number;
}

/** A user whose new userName is that of someone else now. */
export interface Blocked {
  readonly seq: number;
  readonly holderId: number;
}

/** A record on its way to a plan row. */
export interface Candidate {
  readonly record: UserRecord;
  readonly recordId: string;
  readonly nameKey: string | undefined;
  readonly emailKey: string | undefined;
  readonly groups: UserGroups;
  readonly digest: string;
  /** Why the record cannot be taken over; it counts as present all the same. */
  problem: Issue | undefined;
  user: UserFacts | undefined;
  formerId: string | undefined;
  /** Someone else who has the record's userName. */
  holderId: number | undefined;
  /** Of a record that is to be written. */
  change: ProfileChange | undefined;
}

export interface PlannedBatch {
  readonly rows: readonly NewPlanRow[];
  readonly issues: readonly Issue[];
}

type StateChange = { readonly action?: PlanAction; readonly state?: 'active' | 'inactive' };

/** Decides what becomes of user records, batch by batch. */
export class UserPlan {
  /** Who is not in the plan by id, but must not count as missing. */
  readonly alsoPresent = new IdSet();
  readonly blocked: Blocked[] = [];
  /** Additional fields that are not configured, with how many records have them. */
  readonly unknownFields = new Map<string, number>();
  /** Users of other sources whom the document wants enabled or disabled. */
  foreignStates = 0;
  readonly #parts: UserPlanParts;
  readonly #matcher: Matcher;
  readonly #seenIds = new TextSet();
  readonly #seenNames = new TextSet();
  /** Of records in error: whom they are about is nobody else either. */
  readonly #otherIds = new TextSet();
  #created = 0;

  constructor(parts: UserPlanParts) {
    this.#parts = parts;
    this.#matcher = new Matcher(
      parts.db,
      parts.sourceId,
      (id) => this.#seenIds.has(id) || this.#otherIds.has(id),
    );
  }

  #nextOrdinal(): number {
    this.#created += 1;
    return this.#created - 1;
  }

  /** What a row becomes that is about somebody new after all. */
  asCreation(row: PlanRow): Partial<NewPlanRow> {
    const { isDisabled, ...payload } = JSON.parse(row.payload ?? '{}') as UserPayload;
    const nobody = { resource_id: null, former_id: null, changed: null };
    if (isDisabled === true && this.#parts.rules.options.actionDisabledUsers === 'a')
      return { ...nobody, action: 'skip', phase: null, payload: null, sealed_password: null, digest: null };
    this.blocked.push({ seq: row.seq, holderId: row.resource_id ?? 0 });
    const state = isDisabled === true ? 'inactive' : 'active';
    return {
      ...nobody,
      action: 'create',
      phase: 'users',
      ordinal: this.#nextOrdinal(),
      payload: JSON.stringify({ ...payload, state }),
    };
  }

  async plan(users: readonly ReadUser[]): Promise<PlannedBatch> {
    const candidates = users.map((user) => this.#candidate(user));
    await this.#matcher.match(candidates, (candidate) => this.#isUnchanged(candidate));
    for (const candidate of candidates) this.#readChange(candidate);
    const writing = candidates.filter(({ change }) => change !== undefined);
    const groupRows = await this.#parts.groups.require(writing.map(({ groups }) => groups));
    const stored = await this.#load(candidates);
    const batch: { rows: NewPlanRow[]; issues: Issue[] } = { rows: [...groupRows], issues: [] };
    for (const candidate of candidates) await this.#decide(candidate, stored, batch);
    for (const id of this.#matcher.takePresent()) this.alsoPresent.add(id);
    return batch;
  }

  #candidate({ record, digest }: ReadUser): Candidate {
    const { id, username, leaves } = record;
    const recordId = shownId(id ?? username ?? '');
    const nameKey = username === undefined ? undefined : canonicalKey(username);
    const groups = this.#parts.groups.read(record, recordId);
    const email = leaves.email?.value ?? '';
    return {
      record,
      recordId,
      nameKey,
      emailKey: email === '' ? undefined : canonicalKey(email),
      groups,
      digest: this.#digest(digest, groups),
      problem: this.#problem(record, recordId, nameKey),
      user: undefined,
      formerId: undefined,
      holderId: undefined,
      change: undefined,
    };
  }

  /** What the record asks of a user, if it is to be written; what no user can have is a problem of it. */
  #readChange(candidate: Candidate): void {
    const { record, recordId, groups, problem, user } = candidate;
    if (problem !== undefined || user?.do_not_synchronise === 1 || this.#isUnchanged(candidate)) return;
    try {
      const { change, unknownFields } = toProfileChange(record, groups.units, this.#parts.rules);
      for (const id of unknownFields) this.unknownFields.set(id, (this.unknownFields.get(id) ?? 0) + 1);
      if (user === undefined && this.#isLeftOut(record)) return;
      if (user === undefined && record.username === undefined)
        throw new DomainError('invalidValue', 'The user is new and has no username; give it one.');
      candidate.change = change;
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind !== 'invalidValue') throw error;
      candidate.problem = { line: record.line, recordId, code: 'invalidRecord', message: error.detail };
    }
  }

  /** Nobody is created to be archived at once. */
  #isLeftOut(record: UserRecord): boolean {
    return isInactive(record) && this.#parts.rules.options.actionDisabledUsers === 'a';
  }

  #digest(content: string, { units, memberships }: UserGroups): string {
    const groups = memberships?.map(({ type, name }) => `${type}:${name}`);
    return recordDigest(this.#parts.digestContext, content, { units, groups });
  }

  /** Looks for the record's keys among those before it, and notes them. */
  #problem(record: UserRecord, recordId: string, nameKey: string | undefined): Issue | undefined {
    const { id, username, line } = record;
    const issue = (code: IssueCode, message: string): Issue => {
      if (id !== undefined) this.#otherIds.add(id);
      return { line, recordId, code, message };
    };
    if (id === undefined && nameKey === undefined)
      return issue('invalidRecord', 'The user has neither an id nor a username; give it one of them.');
    if (isTooLongForKey(id ?? '') || isTooLongForKey(username ?? ''))
      return issue('invalidRecord', 'The id or username is longer than 1024 bytes (in UTF-8); shorten it.');
    if (id !== undefined && this.#seenIds.has(id))
      return issue('duplicateRecord', `The id "${id}" is given twice; the first user counts.`);
    if (nameKey !== undefined && this.#seenNames.has(nameKey))
      return issue('duplicateRecord', `The username "${username}" is given twice; the first user counts.`);
    if (id !== undefined) this.#seenIds.add(id);
    if (nameKey !== undefined) this.#seenNames.add(nameKey);
    return undefined;
  }

  /** The same record as last time, of a user who is still as it wants them. */
  #isUnchanged({ record, digest, user }: Candidate): boolean {
    if (user === undefined || user.digest !== digest) return false;
    const { action, state } = this.#stateChange(record, user);
    return action === undefined && state === undefined;
  }

  async #load(candidates: readonly Candidate[]): Promise<Stored> {
    const { db, sourceId } = this.#parts;
    const changed = candidates.filter(({ change }) => change !== undefined);
    const ids = changed.flatMap(({ user }) => user?.id ?? []);
    const users = await selectUsers(db, ids, sourceId);
    const managers = changed.flatMap(({ record }) => record.leaves.manager?.value || []);
    const links = await findLinks(db, sourceId, 'User', [...new Set(managers)]);
    const groupIds = [...new Set(users.flatMap((user) => user.groups.map((group) => group.id)))];
    return {
      users: new Map(users.map((user) => [user.id, user])),
      managers: new Map(links.map((link) => [link.external_id, link.resource_id])),
      groups: await findGroupFacts(db, groupIds),
    };
  }

  async #decide(
    candidate: Candidate,
    stored: Stored,
    batch: { rows: NewPlanRow[]; issues: Issue[] },
  ): Promise<void> {
    const { record, recordId, problem, user } = candidate;
    const row = planRow(this.#parts.nextSeq(), { kind: 'user', record_id: recordId, line: record.line });
    const matched = { ...row, resource_id: user?.id ?? null };
    const action = this.#settledAction(candidate);
    if (problem !== undefined) batch.issues.push(problem);
    else if (action !== 'skip') batch.issues.push(...candidate.groups.issues);
    if (action !== undefined) batch.rows.push({ ...matched, action });
    else batch.rows.push(await this.#changeRow(candidate, matched, stored, batch.issues));
  }

  /** What stands in the plan for a record of which nothing is to be written. */
  #settledAction({ problem, user, change }: Candidate): PlanAction | undefined {
    if (problem !== undefined) return 'issue';
    if (change !== undefined) return undefined;
    return user === undefined || user.do_not_synchronise === 1 ? 'skip' : 'unchanged';
  }

  #changeRow(candidate: Candidate, row: NewPlanRow, stored: Stored, issues: Issue[]): Promise<NewPlanRow> {
    const before = stored.users.get(candidate.user?.id ?? 0);
    return before === undefined
      ? this.#createRow(candidate, row, issues)
      : this.#updateRow(candidate, { row, before, stored }, issues);
  }

  async #createRow(candidate: Candidate, row: NewPlanRow, issues: Issue[]): Promise<NewPlanRow> {
    const { record, nameKey, digest, holderId } = candidate;
    const payload = this.#payload(candidate, isInactive(record) ? 'inactive' : 'active');
    if (holderId !== undefined) this.blocked.push({ seq: row.seq, holderId });
    return {
      ...row,
      action: 'create',
      phase: 'users',
      ordinal: this.#nextOrdinal(),
      name_key: nameKey ?? null,
      digest,
      ...(await this.#password(record, row, payload, issues)),
    };
  }

  async #updateRow(
    candidate: Candidate,
    { row, before, stored }: UpdateParts,
    issues: Issue[],
  ): Promise<NewPlanRow> {
    const { record, nameKey, digest, user, formerId, holderId } = candidate;
    const { action, state } = user === undefined ? {} : this.#stateChange(record, user, true);
    // Someone known by another `@id` may turn out to be somebody else: then this row becomes a create.
    const isDoubtful = formerId !== undefined;
    const disabled = isDoubtful && isInactive(record) ? ({ isDisabled: true } as const) : {};
    const payload = { ...this.#payload(candidate, state), ...disabled };
    const changed = this.#changedOf(before, payload, stored);
    const isRenamed = nameKey !== undefined && nameKey !== canonicalKey(String(before.resource.userName));
    if (isRenamed && holderId !== undefined) this.blocked.push({ seq: row.seq, holderId });
    const isEnding = action === 'disable' || action === 'archive';
    const password = isDoubtful ? await this.#password(record, row, payload, issues) : {};
    return {
      ...row,
      action: action ?? (changed.length === 0 ? 'unchanged' : 'update'),
      phase: isEnding ? 'disabled' : 'users',
      name_key: isRenamed || isDoubtful ? (nameKey ?? null) : null,
      former_id: formerId ?? null,
      digest,
      changed: JSON.stringify(changed),
      payload: JSON.stringify(payload),
      ...password,
    };
  }

  #payload(
    { record, change, groups: { memberships } }: Candidate,
    state: 'active' | 'inactive' | undefined,
  ): UserPayload {
    const { groups, rules } = this.#parts;
    const manager = rules.options.syncManagers ? record.leaves.manager : undefined;
    const numbers = memberships?.flatMap((group) => groups.numberOf(group) ?? []);
    if (change === undefined) throw new Error('the record is not to be written');
    return {
      change,
      ...(state === undefined ? {} : { state }),
      ...(manager !== undefined && manager.value !== '' ? { manager: manager.value } : {}),
      ...(manager?.value === '' && manager.applyBlank ? { manager: null } : {}),
      ...(numbers === undefined ? {} : { groups: [...new Set(numbers)] }),
    };
  }

  #changedOf(before: User, payload: UserPayload, { managers, groups: known }: Stored): string[] {
    const next = applyProfileChange(before.resource, payload.change, payload.state);
    const { manager, groups } = payload;
    const managerId = before.manager?.id;
    const isManaged =
      manager === undefined ||
      (manager === null
        ? managerId === undefined
        : managers.get(manager) === managerId && managerId !== undefined);
    const run = { sourceId: this.#parts.sourceId, options: this.#parts.rules.options };
    const held = new Set(before.groups.map((group) => group.id));
    const wanted = new Set(groups ?? held);
    const leaves = before.groups.some(
      ({ id, isPrimary }) => !isPrimary && !wanted.has(id) && mayLeave(known.get(id), run),
    );
    const isMember = groups === undefined || (!leaves && groups.every((id) => held.has(id)));
    return [
      ...changedNames(before.resource, next),
      ...(isManaged ? [] : ['manager']),
      ...(isMember ? [] : ['groups']),
    ];
  }

  /** What the record's `active` means for this user, who is the source's own or nobody's. */
  #stateChange(record: UserRecord, user: UserFacts, isCounted = false): StateChange {
    const active = toBoolean(record.leaves.active?.value ?? '');
    const isOwn = user.owner_source_id === null || user.owner_source_id === this.#parts.sourceId;
    const isActive = user.state === 'active';
    if (!isOwn) {
      if (isCounted && active !== undefined && active !== isActive) this.foreignStates += 1;
      return {};
    }
    const { actionDisabledUsers } = this.#parts.rules.options;
    if (active === false) {
      if (actionDisabledUsers === 'a') return { action: 'archive', state: 'inactive' };
      return actionDisabledUsers === 'd' && isActive ? { action: 'disable', state: 'inactive' } : {};
    }
    const isBack = active === true || user.digest === missingDigest;
    return isBack && !isActive ? { action: 'reactivate', state: 'active' } : {};
  }

  /** The password that a new user is to get: sealed, because the plan is stored. */
  async #password(
    { leaves, line, id, username }: UserRecord,
    { seq }: NewPlanRow,
    payload: UserPayload,
    issues: Issue[],
  ): Promise<Pick<NewPlanRow, 'payload' | 'sealed_password'>> {
    const { secretBox, runId, rules } = this.#parts;
    const { newUserPasswordBehaviour } = rules.options;
    const plain = { payload: JSON.stringify(payload), sealed_password: null };
    if (newUserPasswordBehaviour === 'random')
      return { ...plain, payload: JSON.stringify({ ...payload, randomPassword: true }) };
    const password = leaves.password?.value ?? '';
    if (newUserPasswordBehaviour === 'none' || password === '' || rules.isMasked) return plain;
    try {
      await checkPassword(password, rules.configuration.settings.passwordStrengthRegex);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const recordId = id ?? username ?? null;
      issues.push({
        line,
        recordId,
        code: 'passwordRefused',
        message: `${error.detail} The user gets none.`,
      });
      return plain;
    }
    return { ...plain, sealed_password: secretBox.seal(password, passwordContext(runId, seq)) };
  }
}

interface Stored {
  readonly users: ReadonlyMap<number, User>;
  readonly managers: ReadonlyMap<string, number>;
  readonly groups: ReadonlyMap<number, GroupFacts>;
}

interface UpdateParts {
  readonly row: NewPlanRow;
  readonly before: User;
  readonly stored: Stored;
}

/** What stands in the plan and the report of a record that cannot be found by its id. */
function shownId(id: string): string {
  return isTooLongForKey(id) ? `${id.slice(0, 100).toWellFormed()}…` : id;
}

function isInactive({ leaves }: UserRecord): boolean {
  return toBoolean(leaves.active?.value ?? '') === false;
}
