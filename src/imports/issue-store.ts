import type { Reader, Tx } from '../storage/database.ts';
import type { Issue, IssueCode } from './imports.ts';

const rowsInStatement = 100;

/** Numbers the issues from `first`. */
export async function insertIssues(
  tx: Tx,
  runId: number,
  first: number,
  issues: readonly Issue[],
): Promise<void> {
  const rows = issues.map(({ line, recordId, code, message }, index) => ({
    run_id: runId,
    seq: first + index,
    line,
    record_id: recordId,
    code,
    message,
  }));
  for (let start = 0; start < rows.length; start += rowsInStatement) {
    await tx
      .insertInto('import_issue')
      .values(rows.slice(start, start + rowsInStatement))
      .execute();
  }
}

/** Lines of the records about which the run has issues. */
export async function listIssueLines(db: Reader, runId: number): Promise<Set<number>> {
  const rows = await db
    .selectFrom('import_issue')
    .select('line')
    .distinct()
    .where('run_id', '=', runId)
    .where('line', 'is not', null)
    .execute();
  return new Set(rows.map((row) => row.line ?? 0));
}

/** In the order in which they were found, which is that of the document within planning and within each phase. */
export async function listIssues(db: Reader, runId: number, limit: number): Promise<Issue[]> {
  const rows = await db
    .selectFrom('import_issue')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    line: row.line,
    recordId: row.record_id,
    code: row.code as IssueCode,
    message: row.message,
  }));
}
