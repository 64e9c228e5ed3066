import type { Reader } from '../storage/database.ts';
import { type DirectoryContext, isVisible } from './context.ts';
import { userFilterSql, userSortKey } from './filter-sql.ts';
import { findLiveUsers, findUsersByNameKeys } from './find-users-store.ts';
import { userList } from './list-store.ts';
import { equalTo, type Listing } from './query.ts';
import { userGroups } from './related-store.ts';
import { withoutManager } from './resource-view.ts';
import { findLinks } from './source-link-store.ts';
import type { User } from './user.ts';
import { selectUsers } from './user-store.ts';

export const userListing: Listing<User> = {
  list: userList,
  related: userGroups,
  filterSql: userFilterSql,
  sortKey: userSortKey,
  select: selectLiveUsers,
  async findDirectly(db, context, filter) {
    const userName = equalTo(filter, 'userName');
    if (userName !== undefined) return (await findUsersByNameKeys(db, [userName.key])).map((hit) => hit.id);
    const externalId = equalTo(filter, 'externalId');
    if (externalId === undefined || context.sourceId === null) return undefined;
    return (await findLinks(db, context.sourceId, 'User', [externalId.text])).map((link) => link.resource_id);
  },
};

/** One that was archived since its id was found is not shown. */
async function selectLiveUsers(db: Reader, ids: readonly number[], sourceId: number | null): Promise<User[]> {
  return (await selectUsers(db, ids, sourceId)).filter((user) => user.state !== 'archived');
}

/** The list as the source of `context` may see it; a filter finds out no more than the list shows. */
export function userListingFor(context: DirectoryContext): Listing<User> {
  if (context.scope === 'all') return userListing;
  return {
    ...userListing,
    select: async (db, ids, sourceId) => asSeenBy(db, context, await selectLiveUsers(db, ids, sourceId)),
  };
}

/** The users without the groups and managers that the source of `context` may not see. */
export async function asSeenBy(
  db: Reader,
  context: DirectoryContext,
  users: readonly User[],
): Promise<User[]> {
  if (context.scope === 'all') return [...users];
  const managers = users.flatMap((user) => user.manager?.id ?? []);
  const found = await findLiveUsers(db, [...new Set(managers)]);
  const seen = new Set(
    found.filter((hit) => isVisible(context, { ownerSourceId: hit.owner_source_id })).map((hit) => hit.id),
  );
  return users.map((user) => {
    const groups = user.groups.filter((group) => isVisible(context, group));
    const isHidden = user.manager !== undefined && !seen.has(user.manager.id);
    return { ...(isHidden ? withoutManager(user) : user), groups, stored: undefined };
  });
}
