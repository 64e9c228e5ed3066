import { mergeResource } from '../resource/merge.ts';
import { enterpriseUserUrn } from '../resource/schema.ts';
import { hasNoKeys, isObject, type ScimObject } from '../resource/value.ts';
import { StaleRead } from '../storage/constraints.ts';
import type { Tx } from '../storage/database.ts';
import { lockRows } from '../storage/row-lock.ts';
import { comesInSight, type DirectoryContext, isAdoptable, takenBy } from './context.ts';
import { findMatchingUser } from './match.ts';
import { saveUser } from './save-users.ts';
import { getLiveUser, getSeenUser, seenBy } from './seen-user.ts';
import { touchWhereShown } from './touch-store.ts';
import type { User } from './user.ts';
import { adoptUser, selectUsers, setPasswordHash } from './user-store.ts';

/** What a create does when the resource is there already. */
export type OnMatch = 'merge' | 'return' | 'reject';

export interface Created<R> {
  readonly outcome: 'created' | 'matched';
  readonly resource: R;
}

/** The match for whose sake the password was not hashed has gone: the create begins again. */
export class MatchGone extends Error {}

interface Creation {
  readonly resource: ScimObject;
  readonly onMatch: OnMatch;
  readonly hash: string | undefined;
}

/**
 * Creates the user, or does what `onMatch` says with the one whom it would duplicate. Throws MatchGone for a password
 * that was not hashed, and `uniqueness` for a match that is refused.
 */
export async function createOrMatch(
  tx: Tx,
  context: DirectoryContext,
  { resource, onMatch, hash }: Creation,
): Promise<Created<User>> {
  const matched = await findMatchingUser(tx, context, resource);
  if (matched !== undefined) {
    return { outcome: 'matched', resource: await matchUser(tx, context, { id: matched, resource, onMatch }) };
  }
  if (typeof resource.password === 'string' && hash === undefined) throw new MatchGone();
  const user = await saveUser(tx, context, { next: resource, mode: 'replace' });
  if (hash !== undefined) await setPasswordHash(tx, user.id, hash);
  return { outcome: 'created', resource: await seenBy(tx, context, user) };
}

/** See `Users.createRing`. */
export async function createRing(
  tx: Tx,
  context: DirectoryContext,
  creations: readonly Creation[],
): Promise<Created<User>[]> {
  const made: Created<User>[] = [];
  for (const { resource, ...creation } of creations) {
    const next = withManager(resource, made.at(-1)?.resource.id);
    made.push(await createOrMatch(tx, context, { ...creation, resource: next }));
  }
  const [first, last] = [made[0], made.at(-1)];
  const isLeft = first?.outcome === 'matched' && creations[0]?.onMatch === 'return';
  if (first === undefined || last === undefined || isLeft) return made;
  const before = await getLiveUser(tx, context, first.resource.id);
  const next = withManager(before.resource, last.resource.id);
  await saveUser(tx, context, { before, next, mode: 'patch' });
  // Every one of them shows another one's name: they are read when all is written.
  return Promise.all(
    made.map(async ({ outcome, resource }) => ({
      outcome,
      resource: await getSeenUser(tx, context, resource.id),
    })),
  );
}

function withManager(resource: ScimObject, id: number | undefined): ScimObject {
  const enterprise = resource[enterpriseUserUrn];
  const { manager: _manager, ...others } = isObject(enterprise) ? enterprise : {};
  const next = id === undefined ? others : { ...others, manager: { value: String(id) } };
  const { [enterpriseUserUrn]: _enterprise, ...rest } = resource;
  return hasNoKeys(next) ? rest : { ...rest, [enterpriseUserUrn]: next };
}

async function matchUser(
  tx: Tx,
  context: DirectoryContext,
  {
    id,
    resource,
    onMatch,
  }: { readonly id: number; readonly resource: ScimObject; readonly onMatch: OnMatch },
): Promise<User> {
  await lockRows(tx, 'user', [id]);
  const [before] = await selectUsers(tx, [id], context.sourceId);
  if (before === undefined || before.state === 'archived') throw new StaleRead(`The user ${id}`);
  if (onMatch === 'reject' || !isAdoptable(context, before)) {
    throw takenBy(context, before, 'user');
  }
  if (onMatch === 'return') return seenBy(tx, context, before);
  const { password: _password, ...body } = resource;
  // An identity provider restores a person by creating them again: what it does not say is meant as at first.
  const restored = { active: true, ...body };
  const next = mergeResource(context.configuration.userType, before.resource, restored);
  await saveUser(tx, context, { before, next, mode: 'patch' });
  if (context.sourceId !== null) await adoptUser(tx, id, context.sourceId);
  if (comesInSight(context, before)) await touchWhereShown(tx, [id], context.now);
  return getSeenUser(tx, context, id);
}
