import { DomainError } from '../errors.ts';
import type { Reader } from '../storage/database.ts';
import { type DirectoryContext, isVisible } from './context.ts';
import type { User } from './user.ts';
import { asSeenBy } from './user-listing.ts';
import { selectUsers } from './user-store.ts';

/** All of the user, for a change of it. Throws `notFound` for one who is archived or whom the source may not see. */
export async function getLiveUser(db: Reader, context: DirectoryContext, id: number): Promise<User> {
  const [user] = await selectUsers(db, [id], context.sourceId);
  if (user === undefined || user.state === 'archived' || !isVisible(context, user)) throw notFound(id);
  return user;
}

/** The user as the source of `context` sees it. What is changed is never read this way. */
export async function getSeenUser(db: Reader, context: DirectoryContext, id: number): Promise<User> {
  return seenBy(db, context, await getLiveUser(db, context, id));
}

/** The same of one who was read already. */
export async function seenBy(db: Reader, context: DirectoryContext, user: User): Promise<User> {
  const [seen] = await asSeenBy(db, context, [user]);
  return seen ?? user;
}

export function notFound(id: number): DomainError {
  return new DomainError('notFound', `There is no user with the id ${id}.`);
}
