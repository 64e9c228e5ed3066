import { decodeDocument } from './decode.ts';
import { describeFault, locateFault, locateProblems } from './locate.ts';
import { loadProfileSchema, type ProfileSchema } from './profile-schema.ts';
import { readHead } from './reader.ts';
import type { DocumentHead } from './records.ts';
import { DocumentScanner } from './scanner.ts';
import { type DocumentWindow, WindowCutter } from './windows.ts';
import { XmlError, type XmlLimits, xmlLimits } from './xml.ts';

export interface ValidationOptions {
  readonly limits?: Partial<XmlLimits>;
  /** Receives the document with every password masked, in UTF-8 terms; only for use when it proves valid. */
  readonly onMasked?: (text: string) => void | Promise<void>;
  /** Looked at between windows; its reason is thrown. */
  readonly signal?: AbortSignal;
}

export interface ValidDocument {
  readonly valid: true;
  readonly head: DocumentHead;
  readonly domain: string;
  readonly ldapid: string;
  readonly options: ReadonlyMap<string, string>;
  readonly users: number;
  readonly groups: number;
  readonly warnings: readonly string[];
}

export interface DocumentProblem {
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
}

export interface InvalidDocument {
  readonly valid: false;
  /** At most `problemsMax`, in the order of the file. */
  readonly errors: readonly DocumentProblem[];
  readonly total: number;
  /** True when reading stopped before the end, so that there may be more than `total`. */
  readonly isTotalPartial: boolean;
  /** Kind of the first error. */
  readonly kind: XmlError['kind'];
}

export type ValidationResult = ValidDocument | InvalidDocument;

export const problemsMax = 100;

/**
 * Judges a profile file in one pass and flat memory: encoding, form, bounds, schema and options. Whatever is
 * wrong with the content is in the result. Throws XmlError `tooLarge` for a document above `documentBytesMax`,
 * and what the stream or `onMasked` throws.
 */
export async function validateDocument(
  stream: AsyncIterable<Uint8Array>,
  options: ValidationOptions = {},
): Promise<ValidationResult> {
  const validation = new Validation(await loadProfileSchema(), options);
  try {
    await validation.run(stream);
  } catch (error) {
    if (!(error instanceof XmlError) || error.kind === 'tooLarge') throw error;
    validation.stopAt(error);
  }
  return validation.result();
}

class Validation {
  readonly #schema: ProfileSchema;
  readonly #options: ValidationOptions;
  readonly #limits: XmlLimits;
  readonly #cutter = new WindowCutter();
  readonly #scanner: DocumentScanner;
  readonly #errors: XmlError[] = [];
  readonly #outerFaults = new Set<string>();
  #total = 0;
  #isPartial = false;
  #head: DocumentHead | undefined;
  #masked: string[] = [];

  constructor(schema: ProfileSchema, options: ValidationOptions) {
    this.#schema = schema;
    this.#options = options;
    this.#limits = { ...xmlLimits, ...options.limits };
    const cutter = this.#cutter;
    this.#scanner = new DocumentScanner(this.#limits, {
      raw: (text) => cutter.raw(text),
      section: (name, tag, depth) => cutter.section(name, tag, depth),
      sectionEnd: (name) => cutter.sectionEnd(name),
      record: (nodes, position) => cutter.record(nodes, position),
      ...(options.onMasked === undefined ? {} : { masked: (text: string) => this.#masked.push(text) }),
    });
  }

  async run(stream: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const text of decodeDocument(stream, this.#limits)) {
      this.#scanner.push(text);
      await this.#passMasked();
      for (const window of this.#cutter.take()) this.#check(window);
      if (this.#errors.length < problemsMax) continue;
      this.#isPartial = true;
      return;
    }
    this.#scanner.end();
    this.#check(this.#cutter.finish());
  }

  stopAt(error: XmlError): void {
    const { position, path } = this.#scanner.here();
    this.#add([error.line === 0 ? error.at(position, path) : error]);
    this.#isPartial = true;
  }

  result(): ValidationResult {
    const [first] = this.#errors;
    if (first !== undefined) return this.#invalid(first);
    const head = this.#head;
    if (head === undefined) throw new Error('A document without a head was found valid.');
    const { domain, ldapid, options, warnings } = head;
    const { users, groups } = this.#scanner;
    return { valid: true, head, domain, ldapid, options, users, groups, warnings };
  }

  #invalid(first: XmlError): InvalidDocument {
    const errors = this.#errors
      .toSorted((a, b) => a.line - b.line || a.column - b.column)
      .map(({ line, column, path, message }) => ({ line, column, path, message }));
    return { valid: false, errors, total: this.#total, isTotalPartial: this.#isPartial, kind: first.kind };
  }

  async #passMasked(): Promise<void> {
    if (this.#masked.length === 0 || this.#options.onMasked === undefined) return;
    const text = this.#masked.join('');
    this.#masked = [];
    const waiting = this.#options.onMasked(text);
    if (waiting !== undefined) await waiting;
  }

  #check(window: DocumentWindow): void {
    this.#options.signal?.throwIfAborted();
    if (this.#errors.length >= problemsMax) return;
    const verdict = this.#schema.check(window.document);
    if (verdict.kind === 'malformed') throw locateFault(window) ?? describeFault(window, verdict.problems);
    if (verdict.kind === 'invalid') {
      this.#total += Math.max(verdict.problems.length - problemsMax, 0);
      const errors = locateProblems(window, verdict.problems.slice(0, problemsMax));
      this.#add(errors.filter((error) => this.#isNew(error)));
    }
    if (window.section === '') this.#checkHead(verdict.kind === 'valid');
  }

  /** Every window repeats the start tags of root and section, and so their faults. */
  #isNew({ path, message }: XmlError): boolean {
    if (/^\/[^/]+\/[^/]+\/[^@]/.test(path)) return true;
    const key = `${path} ${message}`;
    if (this.#outerFaults.has(key)) return false;
    this.#outerFaults.add(key);
    return true;
  }

  /** What the schema cannot say of the head. Its other faults are told only where the schema tells none. */
  #checkHead(isSchemaValid: boolean): void {
    if (this.#cutter.head === undefined) return;
    const { head, problems, fault } = readHead(this.#cutter.head, this.#limits);
    this.#head = head;
    this.#add(problems);
    if (isSchemaValid && fault !== undefined) this.#add([fault]);
  }

  #add(errors: readonly XmlError[]): void {
    this.#total += errors.length;
    this.#errors.push(...errors.slice(0, Math.max(problemsMax - this.#errors.length, 0)));
  }
}
