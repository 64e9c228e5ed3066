import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { detectDelimiter, RowCutter, type RowFormat } from '../../../connectors/csv/rows.ts';

const comma: RowFormat = { delimiter: ',', quote: '"' };

/** Rows of a text that arrives in pieces of `size` characters. */
function cut(text: string, format = comma, size = text.length || 1) {
  const cutter = new RowCutter(format, { place: 'The file p.csv' });
  const rows = [];
  for (let at = 0; at < text.length; at += size) rows.push(...cutter.cut(text.slice(at, at + size)));
  return [...rows, ...cutter.cut('', true)];
}

const fieldsOf = (text: string, format = comma) => cut(text, format).map(({ fields }) => fields);

describe('RowCutter', () => {
  test('knows line breaks of every system, in one text', () => {
    expect(fieldsOf('a,b\r\nc,d\ne,f\rg,h')).toEqual([
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
      ['g', 'h'],
    ]);
  });

  test('takes quotes, doubled quotes, and line breaks and delimiters inside', () => {
    expect(fieldsOf('"a ""b""",""\n"x\r\ny,z",1\n')).toEqual([
      ['a "b"', ''],
      ['x\r\ny,z', '1'],
    ]);
  });

  test('takes a quote inside a plain field as it is', () => {
    expect(fieldsOf('5" pipe,a\n')).toEqual([['5" pipe', 'a']]);
  });

  test('keeps empty fields at the end, and leaves out empty lines', () => {
    expect(fieldsOf('a,\n\n\r\n,\nb,')).toEqual([
      ['a', ''],
      ['', ''],
      ['b', ''],
    ]);
  });

  test('takes no sign for a quote when there is none', () => {
    expect(fieldsOf('"a";b\n', { delimiter: ';', quote: '' })).toEqual([['"a"', 'b']]);
  });

  test('counts lines through quoted line breaks', () => {
    expect(cut('a\n"x\ny\r\nz"\n\nb\rc').map(({ line }) => line)).toEqual([1, 2, 6, 7]);
  });

  test('names the line at which a quote is opened and never closed', () => {
    expect(() => cut('a\n"b\nc\nd')).toThrow(
      'The file p.csv: the row at line 2 opens a quote that is never closed.',
    );
  });

  test('names the line at which a row goes on behind a quote', () => {
    expect(() => cut('a\n"b" c\n')).toThrow('the row at line 2 goes on behind a closing quote');
  });

  test('gives up on a row without end', () => {
    const cutter = new RowCutter(comma, { place: 'The file p.csv' });
    const endless = () => {
      for (let turn = 0; turn < 100; turn += 1) cutter.cut(`${turn === 0 ? '"' : ''}${'x'.repeat(100_000)}`);
    };
    expect(endless).toThrow('The file p.csv: the row at line 1 has no end');
  });

  test('gives back any table, however it is cut into pieces', () => {
    const field = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', ' ', 'é', '😀') }),
      fc.string(),
    );
    const table = fc
      .tuple(fc.integer({ min: 2, max: 5 }), fc.constantFrom(',', ';', '\t', '|'))
      .chain(([width, delimiter]) =>
        fc.record({
          delimiter: fc.constant(delimiter),
          rows: fc.array(fc.array(field, { minLength: width, maxLength: width }), { minLength: 1 }),
        }),
      );
    const lineBreak = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(table, lineBreak, fc.integer({ min: 1, max: 9 }), ({ rows, delimiter }, end, size) => {
        const text = rows.map((row) => row.map(quoted).join(delimiter) + end).join('');
        const format = { delimiter, quote: '"' };
        expect(cut(text, format, size).map(({ fields }) => [...fields])).toEqual(rows);
      }),
    );
    function quoted(value: string): string {
      return /^[a-z]*$/.test(value) ? value : `"${value.replaceAll('"', '""')}"`;
    }
  });
});

describe('detectDelimiter', () => {
  test('takes what stands most often outside quotes', () => {
    expect(detectDelimiter('id;name;"a,b,c,d"', '"')).toBe(';');
    expect(detectDelimiter('id\tname, given\tno', '"')).toBe('\t');
    expect(detectDelimiter('a|b|c', '"')).toBe('|');
    expect(detectDelimiter('id', '"')).toBe(',');
  });
});
