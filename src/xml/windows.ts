import type { ScanEvents } from './scanner.ts';
import type { TextPosition } from './xml.ts';

/** A piece of the file, made into a document of its own that the schema can judge. */
export interface DocumentWindow {
  readonly document: string;
  /** The text of the file is `document.slice(rawStart, rawEnd)`; the rest was put around it. */
  readonly rawStart: number;
  readonly rawEnd: number;
  readonly start: TextPosition;
  /** Section in which the window begins, and how many of its records came before; '' in the first window. */
  readonly section: string;
  readonly recordsBefore: number;
}

/** Bounds of a window: records, characters, elements and attributes, whichever is reached first. */
export interface WindowBounds {
  readonly recordsMax: number;
  readonly charactersMax: number;
  readonly nodesMax: number;
}

// The first window is small, so that a file that is wrong in every record is answered at once.
export const firstWindow: WindowBounds = { recordsMax: 50, charactersMax: 256 * 1024, nodesMax: 10_000 };
export const laterWindow: WindowBounds = { recordsMax: 250, charactersMax: 1024 * 1024, nodesMax: 20_000 };

const head = '<syncoptions domain="-" ldapid="0"><option name="-">-</option></syncoptions>';
const someUsers = '<users><user><additionalfields/></user></users>';

/**
 * Gathers the text that the scanner tells and cuts it before a record, so that every window but the last ends
 * with a whole record. Each later window begins with the file's own start tags of root and section, whose
 * namespaces may be in use, around a head that is known to be valid: the file's own was judged in the first.
 */
export class WindowCutter implements ScanEvents {
  #pieces: string[] = [];
  #ready: DocumentWindow[] = [];
  #start: TextPosition = { line: 1, column: 1 };
  #root = { name: '', tag: '' };
  #section = { name: '', tag: '' };
  #prefix = '';
  #prefixSection = '';
  #recordsBefore = 0;
  #sectionRecords = 0;
  #windowRecords = 0;
  #windowSectionRecords = 0;
  #characters = 0;
  #bounds: WindowBounds;
  readonly #later: WindowBounds;
  #head: string | undefined;
  #windowNodes = 0;

  constructor(first = firstWindow, later = laterWindow) {
    this.#bounds = first;
    this.#later = later;
  }

  /** The text up to the end of `syncoptions`, once that has passed. */
  get head(): string | undefined {
    return this.#head;
  }

  raw(text: string): void {
    this.#pieces.push(text);
    this.#characters += text.length;
  }

  section(name: string, tag: string, depth: number): void {
    if (depth === 1) this.#root = { name, tag };
    else this.#section = { name, tag };
    this.#sectionRecords = 0;
    this.#windowSectionRecords = 0;
  }

  sectionEnd(name: string): void {
    if (name === 'syncoptions') this.#head ??= this.#pieces.join('');
    this.#section = { name: '', tag: '' };
  }

  record(nodes: number, position: () => TextPosition): void {
    this.#windowNodes += nodes;
    // Not before the first record of a section: the window would end with an empty one.
    if (this.#windowSectionRecords > 0 && this.#isFull()) this.#cut(position());
    this.#windowRecords += 1;
    this.#windowSectionRecords += 1;
    this.#sectionRecords += 1;
  }

  /** Windows that have become complete since the last call. */
  take(): readonly DocumentWindow[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  /** The last window, when the document has ended. */
  finish(): DocumentWindow {
    return this.#window('');
  }

  #isFull(): boolean {
    return (
      this.#windowRecords >= this.#bounds.recordsMax ||
      this.#characters >= this.#bounds.charactersMax ||
      this.#windowNodes >= this.#bounds.nodesMax
    );
  }

  #cut(position: TextPosition): void {
    const { name, tag } = this.#section;
    const users = name === 'groups' ? someUsers : '';
    this.#ready.push(this.#window(`</${name}>${users}</${this.#root.name}>`));
    this.#pieces = [];
    this.#start = position;
    this.#prefix = this.#root.tag + head + tag;
    this.#prefixSection = name;
    this.#recordsBefore = this.#sectionRecords;
    this.#windowRecords = 0;
    this.#windowSectionRecords = 0;
    this.#windowNodes = 0;
    this.#characters = 0;
    this.#bounds = this.#later;
  }

  #window(suffix: string): DocumentWindow {
    const raw = this.#pieces.join('');
    return {
      document: this.#prefix + raw + suffix,
      rawStart: this.#prefix.length,
      rawEnd: this.#prefix.length + raw.length,
      start: this.#start,
      section: this.#prefixSection,
      recordsBefore: this.#recordsBefore,
    };
  }
}
