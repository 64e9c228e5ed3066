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

  has(id: number): boolean {
    for (const texts of this.#byView.values()) if (texts.has(id)) return true;
    return false;
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

/** Ids that `offer` remembers: more than there are texts in the largest cache of ours. */
const recentIds = 16_384;

/**
 * Rendered resources, each for one version of it. There are two generations of at most half the size: when the young
 * one is full, the old one is let go and the young one takes its place; what is asked for becomes young again.
 */
export class TextCache {
  readonly #generationBytesMax: number;
  #young = new Generation();
  #old = new Generation();
  #wasFull = false;
  /** The id that was offered last, of those with the same remainder. */
  #recent: Float64Array | undefined;

  constructor(bytesMax: number) {
    this.#generationBytesMax = bytesMax / 2;
  }

  /** At most the bytes that it was made for. */
  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
  }

  /** Whether there is a text with this id, of whichever version and view. */
  has(id: number): boolean {
    return this.#young.has(id) || this.#old.has(id);
  }

  find(view: string, id: number, version: number): string | undefined {
    const young = this.#young.find(view, id);
    const kept = young ?? this.#old.find(view, id);
    if (kept?.version !== version) return undefined;
    if (young === undefined) this.keep(view, id, kept);
    return kept.text;
  }

  /**
   * Keeps the text unless it is in the way of others: once the cache has been full, only of what is offered for the
   * second time lately. Who walks through more than can be kept would else push out everything and find nothing.
   */
  offer(view: string, id: number, kept: Kept): void {
    if (!this.#wasFull || this.#isOfferedAgain(id)) this.keep(view, id, kept);
  }

  #isOfferedAgain(id: number): boolean {
    this.#recent ??= new Float64Array(recentIds).fill(-1);
    const place = id % recentIds;
    if (this.#recent[place] === id) return true;
    this.#recent[place] = id;
    return false;
  }

  keep(view: string, id: number, kept: Kept): void {
    if (bytesOf(kept) > this.#generationBytesMax) return;
    if (this.#young.bytes + bytesOf(kept) > this.#generationBytesMax) {
      this.#wasFull ||= this.#old.bytes > 0;
      this.#old = this.#young;
      this.#young = new Generation();
    }
    this.#young.keep(view, id, kept);
  }
}
