import type { SecretMask } from './secrets.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogLine {
  readonly level: LogLevel;
  readonly text: string;
}

const lineCharactersMax = 2_000;
/** What is kept of a line while it is not whole: secrets are looked for in here. */
const rawCharactersMax = 16_384;
const linesMax = 10_000;
const tailBytes = 16_384;
const lineFeed = 0x0a;
const charactersMax = 1024 * 1024;
/** Whoever writes more than this to standard error does nothing else. */
export const logBytesMax = 64 * 1024 * 1024;

/**
 * The log of a run: what its process writes to standard error, one message a line, with `debug:`, `info:`, `warn:` or
 * `error:` before it, `info` otherwise. Secrets and control characters are struck out; too long a line or log is cut.
 */
export class ConnectorLog {
  readonly lines: LogLine[] = [];
  /** Bytes that came, read or not. */
  bytes = 0;
  readonly #mask: SecretMask;
  readonly #onLine: (line: LogLine) => void;
  readonly #decoder = new TextDecoder();
  #partial = '';
  #isPartialCut = false;
  #tail: Uint8Array = new Uint8Array();
  #characters = 0;
  #isCut = false;
  #last: LogLine | undefined;
  #lastError: LogLine | undefined;

  constructor(mask: SecretMask, onLine: (line: LogLine) => void = () => undefined) {
    this.#mask = mask;
    this.#onLine = onLine;
  }

  /** The last line that is an error, or else the last line: most programs say there why they ended. */
  get lastWords(): string | undefined {
    return (this.#lastError ?? this.#last)?.text;
  }

  add(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    if (this.#isCut) this.#skip(chunk);
    else this.#read(chunk);
  }

  end(): void {
    // Its first line may begin within a secret, and is left out.
    if (this.#tail.length > 0) this.#read(this.#tail.subarray(this.#tail.indexOf(lineFeed) + 1));
    this.#extend(this.#decoder.decode());
    this.#endLine();
  }

  /** Reading on would keep this process busy; only the end is kept, where the last words stand. */
  #skip(chunk: Uint8Array): void {
    this.#partial = '';
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-tailBytes)]).subarray(-tailBytes);
  }

  #read(chunk: Uint8Array): void {
    const pieces = this.#decoder.decode(chunk, { stream: true }).split('\n');
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) this.#endLine();
      this.#extend(piece);
    }
  }

  #extend(piece: string): void {
    const room = rawCharactersMax - this.#partial.length;
    if (piece.length > room) this.#isPartialCut = true;
    if (room > 0) this.#partial += piece.slice(0, room);
  }

  #endLine(): void {
    const raw = this.#partial;
    const isCut = this.#isPartialCut;
    this.#partial = '';
    this.#isPartialCut = false;
    // A secret may stand across the cut: what could be its beginning goes with it.
    const whole = isCut ? raw.slice(0, rawCharactersMax - this.#mask.lengthMax) : raw;
    const line = toLine(clean(this.#mask.strike(whole)));
    if (line.text === '') return;
    const isLong = isCut || line.text.length > lineCharactersMax;
    this.#keep(isLong ? { ...line, text: `${line.text.slice(0, lineCharactersMax)}…` } : line);
  }

  #keep(line: LogLine): void {
    this.#last = line;
    if (line.level === 'error') this.#lastError = line;
    if (this.#isCut) return;
    this.#characters += line.text.length;
    this.#isCut = this.lines.length >= linesMax || this.#characters > charactersMax;
    const kept: LogLine = this.#isCut
      ? { level: 'warn', text: 'The log is cut here: the connector writes too much of it.' }
      : line;
    this.lines.push(kept);
    this.#onLine(kept);
  }
}

function toLine(text: string): LogLine {
  const [, level, rest] = /^(debug|info|warn|error): (.*)$/i.exec(text) ?? [];
  if (level === undefined || rest === undefined) return { level: 'info', text };
  return { level: level.toLowerCase() as LogLevel, text: rest };
}

/** Without what would move the cursor of a terminal, or turn its text around. */
export function clean(text: string): string {
  return text
    .replaceAll('\t', ' ')
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
    .trimEnd();
}
