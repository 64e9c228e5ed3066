/** Where a JSON text goes wrong. `offset` counts UTF-16 code units from 0; `line` and `column` count from 1. */
export interface JsonFault {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
  readonly problem: string;
}

/**
 * Finds the first fault of a text that is known to be broken or to have a duplicate key. The engine's own parser says
 * neither position nor character; this one is slow and runs only on failure.
 */
export function findJsonFault(text: string, depthMax: number): JsonFault {
  try {
    new FaultFinder(text, depthMax).document();
  } catch (error) {
    if (error instanceof Fault) return locate(text, error.offset, error.problem);
    throw error;
  }
  return locate(text, 0, 'it cannot be read');
}

class Fault extends Error {
  readonly offset: number;
  readonly problem: string;

  constructor(offset: number, problem: string) {
    super(problem);
    this.offset = offset;
    this.problem = problem;
  }
}

function locate(text: string, offset: number, problem: string): JsonFault {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { offset, line, column: offset - lineStart + 1, problem };
}

class FaultFinder {
  private at = 0;
  private readonly text: string;
  private readonly depthMax: number;

  constructor(text: string, depthMax: number) {
    this.text = text;
    this.depthMax = depthMax;
  }

  document(): void {
    this.value(1);
    this.blanks();
    if (this.at < this.text.length) throw this.unexpected('the end of the body');
  }

  private value(depth: number): void {
    this.blanks();
    const next = this.text[this.at];
    if (next === '"') this.string();
    else if (next === '{') this.object(depth);
    else if (next === '[') this.array(depth);
    else this.plain();
  }

  private object(depth: number): void {
    this.enter(depth);
    const keys = new Set<string>();
    if (this.took('}')) return;
    do {
      this.blanks();
      const start = this.at;
      if (this.text[start] !== '"') throw this.unexpected('a key in quotation marks');
      const key: unknown = JSON.parse(this.string());
      if (keys.has(String(key)))
        throw new Fault(
          start,
          `the key ${this.text.slice(start, this.at).slice(0, 80)} occurs twice in one object`,
        );
      keys.add(String(key));
      if (!this.took(':')) throw this.unexpected('":"');
      this.value(depth + 1);
    } while (this.took(','));
    if (!this.took('}')) throw this.unexpected('"," or "}"');
  }

  private array(depth: number): void {
    this.enter(depth);
    if (this.took(']')) return;
    do {
      this.value(depth + 1);
    } while (this.took(','));
    if (!this.took(']')) throw this.unexpected('"," or "]"');
  }

  private enter(depth: number): void {
    if (depth > this.depthMax) throw new Fault(this.at, `it is nested deeper than ${this.depthMax} levels`);
    this.at += 1;
  }

  /** Returns the text with its quotation marks. */
  private string(): string {
    const start = this.at;
    this.at += 1;
    while (this.text[this.at] !== '"') {
      if (this.at >= this.text.length)
        throw new Fault(start, 'the closing quotation mark of this text is missing');
      if (this.text.charCodeAt(this.at) < 0x20) {
        throw new Fault(
          this.at,
          `the control character ${show(this.text, this.at)} must be written as an escape`,
        );
      }
      this.at += this.text[this.at] === '\\' ? this.escape() : 1;
    }
    this.at += 1;
    return this.text.slice(start, this.at);
  }

  /** The length of the escape that begins here. */
  private escape(): number {
    const letter = this.text[this.at + 1];
    if (letter === 'u') {
      if (/^[0-9A-Fa-f]{4}$/.test(this.text.slice(this.at + 2, this.at + 6))) return 6;
      throw new Fault(this.at, 'the escape \\u must be followed by four hexadecimal digits');
    }
    if (letter !== undefined && '"\\/bfnrt'.includes(letter)) return 2;
    throw new Fault(
      this.at,
      `a backslash must be followed by one of " \\ / b f n r t u, but ${show(this.text, this.at + 1)} follows; write a backslash itself as \\\\`,
    );
  }

  private plain(): void {
    const rest = this.text.slice(this.at, this.at + 400);
    const match = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/.exec(rest);
    if (match === null) throw this.unexpected('a value');
    this.at += match[0].length;
  }

  private took(character: string): boolean {
    this.blanks();
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private blanks(): void {
    while (' \n\r\t'.includes(this.text[this.at] ?? 'x')) this.at += 1;
  }

  private unexpected(expected: string): Fault {
    return new Fault(this.at, `${expected} is expected, but ${show(this.text, this.at)} follows`);
  }
}

/** One character in a form that can stand in a sentence. */
function show(text: string, offset: number): string {
  const code = text.codePointAt(offset);
  if (code === undefined) return 'the end of the body';
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  const isPrintable = code > 0x20 && code !== 0x7f && !(code >= 0xd800 && code <= 0xdfff);
  return isPrintable ? `"${String.fromCodePoint(code)}" (${number})` : number;
}
