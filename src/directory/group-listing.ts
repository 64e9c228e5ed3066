import { groupFilterSql, groupSortKey } from './filter-sql.ts';
import { type Group, selectGroups } from './group-store.ts';
import { groupList } from './list-store.ts';
import { equalTo, type Listing } from './query.ts';
import { groupMembers } from './related-store.ts';
import { findLinks } from './source-link-store.ts';

export const groupListing: Listing<Group> = {
  list: groupList,
  related: groupMembers,
  filterSql: groupFilterSql,
  sortKey: groupSortKey,
  select: selectGroups,
  async findDirectly(db, context, filter) {
    const externalId = equalTo(filter, 'externalId');
    if (externalId === undefined || context.sourceId === null) return undefined;
    return (await findLinks(db, context.sourceId, 'Group', [externalId.text])).map(
      (link) => link.resource_id,
    );
  },
};
