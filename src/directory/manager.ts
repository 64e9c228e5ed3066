import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { toId } from '../resource/resource-id.ts';
import type { Reader } from '../storage/database.ts';
import { type DirectoryContext, isVisible } from './context.ts';
import { findLinks } from './source-link-store.ts';
import { findLiveUsers, findUsersByEmailKeys, findUsersByNameKeys } from './user-store.ts';

/** What a manager value leads to. */
export type ManagerOutcome =
  | { readonly kind: 'found'; readonly id: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous'; readonly count: number };

/**
 * The manager rules of service-description.md §2, for SCIM and imports alike: a value that a number can be read from
 * is only ever an id; any other is the userName, primary or work email, or external id of exactly one live user.
 */
export async function resolveManagers(
  db: Reader,
  context: DirectoryContext,
  values: readonly string[],
): Promise<Map<string, ManagerOutcome>> {
  const unique = [...new Set(values)];
  const outcomes = new Map<string, ManagerOutcome>();
  const numeric = unique.filter(isNumeric);
  const live = new Set(visible(context, await findLiveUsers(db, numeric.map(toId))).map((user) => user.id));
  for (const value of numeric) {
    outcomes.set(value, live.has(toId(value)) ? { kind: 'found', id: toId(value) } : { kind: 'none' });
  }
  const texts = unique.filter((value) => !isNumeric(value));
  const hits = await findByText(db, context, texts);
  for (const value of texts) outcomes.set(value, toOutcome(hits(value)));
  return outcomes;
}

async function findByText(db: Reader, context: DirectoryContext, texts: readonly string[]) {
  const keys = [...new Set(texts.map(canonicalKey))];
  const named = [...(await findUsersByNameKeys(db, keys)), ...(await findUsersByEmailKeys(db, keys))];
  const links = context.sourceId === null ? [] : await findLinks(db, context.sourceId, 'User', texts);
  const ids = new Map<string, Set<number>>();
  const note = (text: string, id: number) => ids.set(text, (ids.get(text) ?? new Set()).add(id));
  for (const hit of visible(context, named)) note(`key:${hit.key}`, hit.id);
  for (const link of links) note(`link:${link.external_id}`, link.resource_id);
  return (value: string) =>
    new Set([...(ids.get(`key:${canonicalKey(value)}`) ?? []), ...(ids.get(`link:${value}`) ?? [])]);
}

/** Whom a source cannot see it cannot name as a manager either. */
function visible<H extends { readonly owner_source_id: number | null }>(
  context: DirectoryContext,
  hits: readonly H[],
): H[] {
  return hits.filter((hit) => isVisible(context, { ownerSourceId: hit.owner_source_id }));
}

function toOutcome(hits: ReadonlySet<number>): ManagerOutcome {
  const [id] = hits;
  if (id === undefined) return { kind: 'none' };
  return hits.size === 1 ? { kind: 'found', id } : { kind: 'ambiguous', count: hits.size };
}

/** Anything convertible to a number, leading zeros and exponents included, cannot be told from an id. */
export function isNumeric(value: string): boolean {
  return value.trim() !== '' && !Number.isNaN(Number(value));
}

/** The refusal of a manager value that leads to nobody, or to several. */
export function managerError(value: string, outcome: ManagerOutcome): DomainError {
  const why =
    outcome.kind === 'ambiguous'
      ? `matches ${outcome.count} users; send the id of one of them`
      : isNumeric(value)
        ? 'is numeric and so can only be the id of a user, and there is none with it'
        : 'is not the id, userName, primary or work email, or externalId of any user';
  return new DomainError('invalidValue', `The manager "${value}" ${why}.`, { attribute: 'manager.value' });
}
