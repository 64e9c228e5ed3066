import { userFilterSql } from './filter-sql.ts';
import { equalTo, type Listing } from './query.ts';
import { userView } from './resource-view.ts';
import { findLinks } from './source-link-store.ts';
import type { User } from './user.ts';
import { countUsers, findUsersByNameKeys, pageOfUserIds, selectUsers } from './user-store.ts';

export const userListing: Listing<User> = {
  filterSql: userFilterSql,
  count: countUsers,
  pageOfIds: pageOfUserIds,
  select: selectUsers,
  view: (user, context) => userView(user, context.configuration.personas, () => ''),
  async findDirectly(db, context, filter) {
    const userName = equalTo(filter, 'userName');
    if (userName !== undefined) return (await findUsersByNameKeys(db, [userName.key])).map((hit) => hit.id);
    const externalId = equalTo(filter, 'externalId');
    if (externalId === undefined || context.sourceId === null) return undefined;
    return (await findLinks(db, context.sourceId, 'User', [externalId.text])).map((link) => link.resource_id);
  },
};
