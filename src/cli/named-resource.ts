import { findNamedById, listNamedByKey, type NamedResource } from '../directory/history-store.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import type { Reader } from '../storage/database.ts';
import type { ResourceTypeName } from '../storage/schema.ts';

/** Those whom an argument may mean, the likeliest first: an id, a userName or a group's displayName. */
export async function namedResources(
  db: Reader,
  resourceType: ResourceTypeName,
  text: string,
): Promise<NamedResource[]> {
  const byId = /^[1-9]\d{0,14}$/.test(text) ? await findNamedById(db, resourceType, Number(text)) : undefined;
  return byId === undefined ? listNamedByKey(db, resourceType, canonicalKey(text)) : [byId];
}
