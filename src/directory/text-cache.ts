interface Kept {
  readonly version: number;
  readonly text: string;
}

type Texts = Map<number, Kept>;

/** Memory of a text besides its characters, roughly. */
const overheadBytes = 100;

/** Texts by who may see them (`view`) and by id, up to a number of bytes; what was not asked for lately goes first. */
class Generation {
  readonly #byView = new Map<string, Texts>();
  bytes = 0;

  find(view: string, id: number): Kept | undefined {
    return this.#byView.get(view)?.get(id);
  }

  keep(view: string, id: number, kept: Kept): void {
    const texts = this.#textsOf(view);
    const former = texts.get(id);
    if (former !== undefined) this.bytes -= bytesOf(former);
    this.bytes += bytesOf(kept);
    texts.set(id, kept);
  }

  #textsOf(view: string): Texts {
    const known = this.#byView.get(view);
    if (known !== undefined) return known;
    const texts: Texts = new Map();
    this.#byView.set(view, texts);
    return texts;
  }
}

function bytesOf({ text }: Kept): number {
  return 2 * text.length + overheadBytes;
}

/**
 * Rendered resources, each for one version of it. There are two generations of at most half the size: when the young
 * one is full, the old one is let go and the young one takes its place; what is asked for becomes young again.
 */
export class TextCache {
  readonly #generationBytesMax: number;
  #young = new Generation();
  #old = new Generation();

  constructor(bytesMax: number) {
    this.#generationBytesMax = bytesMax / 2;
  }

  /** At most the bytes that it was made for. */
  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
  }

  find(view: string, id: number, version: number): string | undefined {
    const young = this.#young.find(view, id);
    const kept = young ?? this.#old.find(view, id);
    if (kept?.version !== version) return undefined;
    if (young === undefined) this.keep(view, id, kept);
    return kept.text;
  }

  keep(view: string, id: number, kept: Kept): void {
    if (bytesOf(kept) > this.#generationBytesMax) return;
    if (this.#young.bytes + bytesOf(kept) > this.#generationBytesMax) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    this.#young.keep(view, id, kept);
  }
}
