import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { toId } from '../resource/resource-id.ts';
import type { Reader, Tx } from '../storage/database.ts';
import { isPostgres } from '../storage/list-parameter.ts';
import { keepInPassing, lockInPassing } from '../storage/row-lock.ts';
import { type DirectoryContext, isVisible } from './context.ts';
import { findLiveUsers, findUsersByEmailKeys, findUsersByNameKeys } from './find-users-store.ts';
import { findLinks } from './source-link-store.ts';

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

/**
 * `resolveManagers` for a source whose references may wait: those that lead to nobody are looked for again when nobody
 * can arrive any more before `tx` ends (see `keepArrivals`), so that who waits is seen by whoever arrives.
 */
export async function resolveReferences(
  tx: Tx,
  context: DirectoryContext,
  values: readonly string[],
): Promise<Map<string, ManagerOutcome>> {
  const outcomes = await resolveManagers(tx, context, values);
  const missing = [...outcomes].flatMap(([value, { kind }]) => (kind === 'none' ? [value] : []));
  if (missing.length === 0 || !mayWait(context) || !isPostgres(tx)) return outcomes;
  await lockInPassing(tx, 'source', [context.sourceId]);
  return new Map([...outcomes, ...(await resolveManagers(tx, context, missing))]);
}

/** The other side of `resolveReferences`: until `tx` ends nobody begins to wait for those whom it brings. */
export async function keepArrivals(tx: Tx, context: DirectoryContext): Promise<void> {
  if (mayWait(context)) await keepInPassing(tx, 'source', [context.sourceId]);
}

/** Whether the references of the context's source wait for whom they name. */
export function mayWait(context: DirectoryContext): context is DirectoryContext & { sourceId: number } {
  return context.unknownReferences === 'pending' && context.sourceId !== null;
}

/** A number is only ever an id: whoever gets that id later, or bears it as a name, is not the one who was meant. */
export function mayArrive(value: string): boolean {
  return !isNumeric(value) && canonicalKey(value) !== '';
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
  return referenceError(value, outcome, 'manager');
}

/** The same for a member that is given by name. */
export function referenceError(
  value: string,
  outcome: ManagerOutcome,
  role: 'manager' | 'member',
): DomainError {
  const why =
    outcome.kind === 'ambiguous'
      ? `matches ${outcome.count} users; send the id of one of them`
      : isNumeric(value)
        ? 'is numeric and so can only be the id of a user, and there is none with it'
        : 'is not the id, userName, primary or work email, or externalId of any user';
  return new DomainError('invalidValue', `The ${role} "${value}" ${why}.`, {
    attribute: role === 'manager' ? 'manager.value' : 'members.value',
  });
}
