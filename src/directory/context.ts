// The directory owns people, groups, memberships and who manages whom: the rules that hold whichever door a change
// comes through. It never sees HTTP or XML. Its terms are those of RFC 7643 §4 and of service-description.md §2 and §3.
// Every change goes through save-users.ts or save-group.ts, which write the journal in the same transaction.

import { DomainError } from '../errors.ts';
import type { Configuration } from '../settings/configuration.ts';
import type { JournalTable } from '../storage/schema.ts';
import type { Brake } from './brake.ts';

export interface Actor {
  readonly kind: JournalTable['actor_kind'];
  /** Id of the source or account; null for the system itself. */
  readonly id: number | null;
}

/** On whose behalf something is read or changed, when, and under which configuration. */
export interface DirectoryContext {
  readonly actor: Actor;
  /** The source whose external ids are read and written. */
  readonly sourceId: number | null;
  /** `own`: sees only what the source owns; the rest answers like a missing id. */
  readonly scope: 'all' | 'own';
  /** A member or manager that is not there: refused, or kept until it arrives. */
  readonly unknownReferences: 'reject' | 'pending';
  readonly requestId: string | null;
  readonly runId: number | null;
  readonly configuration: Configuration;
  /** What `$ref` and `meta.location` begin with; absent where no client is shown any. */
  readonly base?: string;
  /** RFC 7643 dateTime in UTC, milliseconds. */
  readonly now: string;
  /** Absent where nothing is braked: for the system itself. */
  readonly brake?: Brake;
  /** Says that nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** Whoever works on the machine itself sees everything, under no source's external ids. */
export function machineContext(configuration: Configuration, actor: Actor, now: string): DirectoryContext {
  return {
    actor,
    sourceId: null,
    scope: 'all',
    unknownReferences: 'reject',
    requestId: null,
    runId: null,
    configuration,
    now,
  };
}

/** Whether the context's source may see the resource: one that may not answers like a missing id. */
export function isVisible(
  context: DirectoryContext,
  resource: { readonly ownerSourceId: number | null },
): boolean {
  return context.scope === 'all' || resource.ownerSourceId === context.sourceId;
}

/** Refuses to create what is there; a source that does not see it learns no more than that a name is taken. */
export function takenBy(
  context: DirectoryContext,
  resource: { readonly ownerSourceId: number | null },
  noun: 'user' | 'group',
): DomainError {
  const detail = isVisible(context, resource)
    ? `The ${noun} exists already; update it instead of creating it.`
    : `A name or externalId of the ${noun} is not free; choose another.`;
  return new DomainError('uniqueness', detail);
}

/** A match reaches what the source sees, and what nobody owns. */
export function isAdoptable(
  context: DirectoryContext,
  resource: { readonly ownerSourceId: number | null },
): boolean {
  return resource.ownerSourceId === null || isVisible(context, resource);
}

/** Whether adopting the resource shows it to the context's source for the first time. */
export function comesInSight(
  context: DirectoryContext,
  before: { readonly ownerSourceId: number | null },
): boolean {
  return isAdoptable(context, before) && !isVisible(context, before);
}

/** For conditions in SQL: whose resources alone are visible; undefined when all are. */
export function visibleOwner(context: DirectoryContext): number | null | undefined {
  return context.scope === 'own' ? context.sourceId : undefined;
}

/** Whether an error may name resources by their ids: only to a source that may see any of them. */
export function mayName(context: DirectoryContext): boolean {
  return context.scope === 'all';
}
