// Reads one table: bytes become text, text rows, and rows records with the names of their columns.
// A row that does not fit its header stops the run: whose values have moved by a column nobody can tell.

import type { SourceRecord } from '../../src/connectors/contract.ts';
import { DomainError } from '../../src/errors.ts';
import { decodeText, type Encoding } from './decode.ts';
import { detectDelimiter, type Row, RowCutter } from './rows.ts';

export interface TableFormat {
  readonly encoding: Encoding;
  /** One sign, or `auto`. */
  readonly delimiter: string;
  readonly quote: string;
  /** Without one, columns are called by their number, from 1. */
  readonly hasHeader: boolean;
}

export interface Table {
  readonly columns: readonly string[];
  readonly delimiter: string;
  /** Records in batches; to be read once. */
  readonly records: AsyncIterable<readonly SourceRecord[]>;
  /** For whoever does not read the records. */
  close(): Promise<void>;
}

/**
 * Opens a table: reads as much as its columns take. Undefined when there is nothing in it. Throws DomainError `invalidValue`
 * with a sentence that begins with `place` and names the line.
 */
export async function openTable(
  chunks: AsyncIterable<Uint8Array>,
  { format, place }: { readonly format: TableFormat; readonly place: string },
): Promise<Table | undefined> {
  const reader = new RowReader(decodeText(chunks, { encoding: format.encoding, place }), format, place);
  try {
    const [row, ...rest] = (await reader.next()) ?? [];
    if (row === undefined) return undefined;
    const columns = format.hasHeader ? headerOf(row, place) : row.fields.map((_, at) => String(at + 1));
    const rows = format.hasHeader ? rest : [row, ...rest];
    const records = recordsOf(reader, { columns, rows, place });
    return { columns, delimiter: reader.delimiter, records, close: () => reader.end() };
  } catch (error) {
    await reader.end();
    throw error;
  }
}

/** What Excel writes, and reads, as a first line that names the delimiter. */
const separatorLine = /^sep=([^\r\n])(?:\r\n|\n|\r|$)/i;

class RowReader {
  readonly #texts: AsyncIterator<string>;
  readonly #format: TableFormat;
  readonly #place: string;
  #cutter: RowCutter | undefined;
  #isAtEnd = false;
  delimiter = '';

  constructor(texts: AsyncIterable<string>, format: TableFormat, place: string) {
    this.#texts = texts[Symbol.asyncIterator]();
    this.#format = format;
    this.#place = place;
  }

  /** The next rows, one at least; undefined behind the last. */
  async next(): Promise<readonly Row[] | undefined> {
    // Every turn takes a piece of the text, or the end.
    while (!this.#isAtEnd) {
      const { value: text, done } = await this.#texts.next();
      this.#isAtEnd = done === true;
      const rows = this.#cut(done === true ? '' : text);
      if (rows.length > 0) return rows;
    }
    return undefined;
  }

  /** Closes the file when not everything was read. */
  async end(): Promise<void> {
    this.#isAtEnd = true;
    await this.#texts.return?.();
  }

  #cut(text: string): readonly Row[] {
    if (this.#cutter !== undefined || text === '') return this.#cutter?.cut(text, this.#isAtEnd) ?? [];
    const named = separatorLine.exec(text);
    const rest = text.slice(named?.[0].length ?? 0);
    this.delimiter = this.#delimiterOf(rest, named?.[1]);
    const format = { delimiter: this.delimiter, quote: this.#format.quote };
    this.#cutter = new RowCutter(format, { place: this.#place, firstLine: named === null ? 1 : 2 });
    return this.#cutter.cut(rest);
  }

  #delimiterOf(text: string, named: string | undefined): string {
    const { delimiter, quote } = this.#format;
    if (delimiter !== 'auto') return delimiter;
    return named ?? detectDelimiter(text.slice(0, text.search(/[\r\n]|$/)), quote);
  }
}

function headerOf({ line, fields }: Row, place: string): readonly string[] {
  const names = fields.map((field, at) => field.trim() || String(at + 1));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return names;
  throw new DomainError(
    'invalidValue',
    `${place}: the header at line ${line} has the column ${JSON.stringify(twice)} twice; rename one of them.`,
  );
}

interface Opened {
  readonly columns: readonly string[];
  /** Rows that were read with the header. */
  readonly rows: readonly Row[];
  readonly place: string;
}

async function* recordsOf(
  reader: RowReader,
  { columns, rows: first, place }: Opened,
): AsyncGenerator<readonly SourceRecord[]> {
  try {
    let rows: readonly Row[] | undefined = first;
    while (rows !== undefined) {
      yield rows.map((row) => recordOf(row, columns, place));
      rows = await reader.next();
    }
  } finally {
    await reader.end();
  }
}

/** Without a prototype: a column may be called `__proto__`. */
function recordOf({ line, fields }: Row, columns: readonly string[], place: string): SourceRecord {
  if (fields.length !== columns.length) throw ragged(line, { fields, columns, place });
  const record: Record<string, unknown> = Object.create(null);
  for (let at = 0; at < columns.length; at += 1) record[columns[at] ?? ''] = fields[at];
  return record;
}

function ragged(
  line: number,
  { fields, columns, place }: { fields: readonly string[]; columns: readonly string[]; place: string },
): DomainError {
  return new DomainError(
    'invalidValue',
    `${place}: line ${line} has ${fields.length} fields, but the first row has ${columns.length}. Look for a missing quote or a stray delimiter there.`,
  );
}
