import { findNamedById, listNamedByKey, type NamedResource } from '../directory/history-store.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { toId } from '../resource/resource-id.ts';
import type { Reader } from '../storage/database.ts';
import type { ResourceTypeName } from '../storage/schema.ts';

/** Those whom an argument may mean, the likeliest first: an id, a userName or a group's displayName. */
export async function namedResources(
  db: Reader,
  resourceType: ResourceTypeName,
  text: string,
): Promise<NamedResource[]> {
  const id = toId(text);
  const byId = id > 0 ? await findNamedById(db, resourceType, id) : undefined;
  return byId === undefined ? listNamedByKey(db, resourceType, canonicalKey(text)) : [byId];
}
