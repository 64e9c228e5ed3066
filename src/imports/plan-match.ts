import { findUsersByEmailKeys, findUsersByNameKeys, type UserHit } from '../directory/find-users-store.ts';
import type { Reader } from '../storage/database.ts';
import { IdSet } from './compact-set.ts';
import { findLinkedUsers, findUserFacts, type UserFacts } from './match-store.ts';
import type { Candidate } from './plan-users.ts';

/**
 * Finds the user behind each record: by `@id`, then username, then email. The `@id` decides alone, so that a username
 * can move from one person to another within a file.
 */
export class Matcher {
  readonly #db: Reader;
  readonly #sourceId: number;
  readonly #isInFile: (id: string) => boolean;
  readonly #taken = new IdSet();
  #present: number[] = [];

  constructor(db: Reader, sourceId: number, isInFile: (id: string) => boolean) {
    this.#db = db;
    this.#sourceId = sourceId;
    this.#isInFile = isInFile;
  }

  /** Sets `user`, `formerId`, `holderId` and, for a match that is not clear, `problem`. */
  async match(
    candidates: readonly Candidate[],
    isUnchanged: (candidate: Candidate) => boolean,
  ): Promise<void> {
    const ids = candidates.flatMap(({ record }) => record.id ?? []);
    const linked = new Map(
      (await findLinkedUsers(this.#db, this.#sourceId, ids)).map((user) => [user.external_id, user]),
    );
    for (const candidate of candidates) candidate.user = linked.get(candidate.record.id ?? '') ?? undefined;
    const open = candidates.filter((candidate) => !isUnchanged(candidate) || candidate.problem !== undefined);
    const hits = await this.#look(open);
    for (const { user, problem } of candidates) if (user && !problem) this.#taken.add(user.id);
    for (const candidate of open) this.#settle(candidate, hits);
  }

  /** Users hit by records that are in error, since the last call. */
  takePresent(): number[] {
    const present = this.#present;
    this.#present = [];
    return present;
  }

  async #look(candidates: readonly Candidate[]): Promise<Hits> {
    const nameKeys = candidates.flatMap(({ nameKey }) => nameKey ?? []);
    // Whoever is in error shields everybody whom it may have meant.
    const unlinked = candidates.filter(({ user, problem }) => user === undefined || problem !== undefined);
    const emailKeys = unlinked.flatMap(({ emailKey }) => emailKey ?? []);
    const byName = await findUsersByNameKeys(this.#db, [...new Set(nameKeys)]);
    const byEmail = await findUsersByEmailKeys(this.#db, [...new Set(emailKeys)]);
    const ids = [...new Set([...byName, ...byEmail].map((hit) => hit.id))];
    const facts = await findUserFacts(this.#db, this.#sourceId, ids);
    return {
      byName: new Map(byName.map((hit) => [hit.key, hit.id])),
      byEmail: groupByKey(byEmail),
      users: new Map(facts.map((user) => [user.id, user])),
    };
  }

  #settle(candidate: Candidate, { byName, byEmail, users }: Hits): void {
    const named = candidate.nameKey === undefined ? undefined : byName.get(candidate.nameKey);
    if (candidate.user !== undefined && candidate.problem === undefined) {
      if (named !== candidate.user.id) candidate.holderId = named;
      return;
    }
    // The email is the weakest key: whom this source knows by another id is somebody else.
    const emailed = (candidate.emailKey === undefined ? [] : (byEmail.get(candidate.emailKey) ?? [])).filter(
      (id) => users.get(id)?.external_id === null && !this.#taken.has(id),
    );
    if (candidate.problem !== undefined) {
      this.#present.push(...emailed, ...(named === undefined ? [] : [named]));
      if (candidate.user !== undefined) this.#present.push(candidate.user.id);
      return;
    }
    const isOther = named !== undefined && this.#isSomebodyElse(candidate, users.get(named));
    const matched = isOther ? undefined : named;
    if (isOther) candidate.holderId = named;
    const problem = isOther ? undefined : ambiguity(candidate, matched, emailed);
    if (problem !== undefined) {
      candidate.problem = problem;
      this.#present.push(...emailed, ...(matched === undefined ? [] : [matched]));
      return;
    }
    this.#take(candidate, users.get(matched ?? (isOther ? 0 : (emailed[0] ?? 0))));
  }

  #take(candidate: Candidate, user: UserFacts | undefined): void {
    if (user === undefined) return;
    this.#taken.add(user.id);
    candidate.user = user;
    const { id } = candidate.record;
    if (id !== undefined && user.external_id !== null && user.external_id !== id)
      candidate.formerId = user.external_id;
  }

  /** The one who has the username stands in the file under an `@id` of their own. */
  #isSomebodyElse({ record }: Candidate, user: UserFacts | undefined): boolean {
    if (user === undefined) return false;
    if (this.#taken.has(user.id)) return true;
    const known = user.external_id;
    return record.id !== undefined && known !== null && known !== record.id && this.#isInFile(known);
  }
}

interface Hits {
  readonly byName: ReadonlyMap<string, number>;
  readonly byEmail: ReadonlyMap<string, readonly number[]>;
  readonly users: ReadonlyMap<number, UserFacts>;
}

function groupByKey(hits: readonly UserHit[]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const { key, id } of hits) groups.set(key, [...(groups.get(key) ?? []), id]);
  return groups;
}

function ambiguity(
  { record, recordId }: Candidate,
  named: number | undefined,
  emailed: readonly number[],
): Candidate['problem'] {
  const issue = (message: string) => ({
    line: record.line,
    recordId,
    code: 'ambiguousMatch' as const,
    message,
  });
  if (named !== undefined && emailed.length > 0 && !emailed.includes(named))
    return issue(
      `The username is that of user ${named} and the email that of another (${emailed.slice(0, 5).join(', ')}); correct one of them.`,
    );
  if (named === undefined && emailed.length > 1)
    return issue(
      `Several users have the email (${emailed.slice(0, 5).join(', ')}); give the username of one.`,
    );
  return undefined;
}
