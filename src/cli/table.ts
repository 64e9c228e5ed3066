/** Rows under headings, in columns as wide as their widest cell. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = [headings, ...rows].map((row) => row.map(plain));
  const widths = headings.map((_, column) =>
    Math.max(...shown.map((row) => Bun.stringWidth(row[column] ?? ''))),
  );
  return shown
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `name: value` lines for one thing. */
export function formatFacts(facts: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length)) + 1;
  return facts.map(([name, value]) => `${`${name}:`.padEnd(width)} ${plain(value)}`).join('\n');
}

/** What a client stored must not move the cursor of the terminal, nor turn its text around. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\ufffd');
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - Bun.stringWidth(text)));
}
