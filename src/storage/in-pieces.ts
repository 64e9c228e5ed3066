/** Rows in one statement: some ten milliseconds of work, also where each row has indexes. */
export const rowsInPieceMax = 5_000;

/**
 * Does `work` for so many rows at a time, in their order, and lets others be served in between: a statement over a
 * hundred thousand rows would hold the thread to its end. Resolves with all that the pieces gave.
 */
export async function inPieces<T, R>(
  rows: readonly T[],
  work: (piece: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  if (rows.length <= rowsInPieceMax) return [...(await work(rows))];
  const found: R[] = [];
  for (let start = 0; start < rows.length; start += rowsInPieceMax) {
    if (start > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    for (const row of await work(rows.slice(start, start + rowsInPieceMax))) found.push(row);
  }
  return found;
}
