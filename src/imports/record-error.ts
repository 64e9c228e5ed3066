import { DomainError, type ErrorKind } from '../errors.ts';
import { brokenUniqueRule, type UniqueRule } from '../storage/constraints.ts';
import type { Issue, IssueCode } from './imports.ts';
import type { PlanRow } from './plan-store.ts';

/** These say something about the service, not about a record. */
const serviceKinds: ReadonlySet<ErrorKind> = new Set([
  'unavailable',
  'storageFull',
  'internal',
  'limitExceeded',
]);

const sentences: Readonly<Record<UniqueRule, string>> = {
  user_name_live: 'Another user has this username; give this one another.',
  source_link_external: 'Another user or group of this source has this id; give this one another.',
  group_name_live: 'Another group of this type has this name; give this one another.',
  source_name: 'The record breaks a rule of uniqueness.',
  other: 'The record breaks a rule of uniqueness.',
};

/** Whether the directory refuses what the record says; anything else stops the run. */
export function isRecordError(error: unknown): boolean {
  if (error instanceof DomainError) return !serviceKinds.has(error.kind);
  return brokenUniqueRule(error) !== undefined;
}

export function toIssue(row: PlanRow, error: unknown): Issue {
  const rule = brokenUniqueRule(error);
  const isDomain = error instanceof DomainError;
  const message = rule === undefined ? (isDomain ? error.detail : '') : sentences[rule];
  const code: IssueCode =
    rule !== undefined || (isDomain && error.kind === 'uniqueness') ? 'uniqueness' : 'refused';
  return { line: row.line, recordId: row.record_id, code, message };
}

/** The name of a group that is to be created is that of another one. */
export function nameTaken(row: PlanRow): Issue {
  return issueOf(row, 'uniqueness', sentences.group_name_live);
}

export function issueOf(row: PlanRow, code: IssueCode, message: string): Issue {
  return { line: row.line, recordId: row.record_id, code, message };
}
