import { expect, test } from 'bun:test';
import { inPieces, rowsInPieceMax } from '../../src/storage/in-pieces.ts';

test('work on many rows is done in pieces, in order, with others served in between', async () => {
  const rows = Array.from({ length: 2 * rowsInPieceMax + 1 }, (_, index) => index);
  const seen: (number | string)[] = [];
  const found = await inPieces(rows, async (piece) => {
    seen.push(piece.length);
    setImmediate(() => seen.push('other'));
    return piece.map((row) => -row);
  });
  expect(found).toEqual(rows.map((row) => -row));
  expect(seen).toEqual([rowsInPieceMax, 'other', rowsInPieceMax, 'other', 1]);
});

test('work on few rows, or on none, is done at once', async () => {
  const sizes: number[] = [];
  const note = async (piece: readonly number[]) => {
    sizes.push(piece.length);
    return piece;
  };
  expect(await inPieces([1, 2], note)).toEqual([1, 2]);
  expect(await inPieces([], note)).toEqual([]);
  expect(sizes).toEqual([2, 0]);
});
