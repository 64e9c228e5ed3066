// Figures as a person reads them.

type Row = readonly string[];

/** First column to the left, the others to the right. */
export function table(title: string, head: Row, rows: readonly Row[]): string {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const line = (row: Row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ');
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [title, line(head), rule, ...rows.map((row) => line(row).trimEnd())].join('\n');
}

export function number(value: number): string {
  return Math.round(value).toLocaleString('en');
}

export function figure(value: number): string {
  return value >= 100 ? number(value) : value.toFixed(2);
}

export function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2);
}
