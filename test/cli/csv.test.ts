import { expect, test } from 'bun:test';
import { csvCell } from '../../src/cli/run-records.ts';

test.each([
  ['plain', 'plain'],
  ['Ann, "the" boss', '"Ann, ""the"" boss"'],
  ['=1+1', "'=1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['two\nlines', 'two\ufffdlines'],
])('%j becomes the cell %j', (text, cell) => {
  expect(csvCell(text)).toBe(cell);
});
