// Sets of a million elements that take tens of bytes less for each than those of the language.

const slotsFirst = 1_024;
const wordsInSlot = 3;

/**
 * A set of texts that keeps 96 bits of each, of two different hashes: of a million different ones, two count as the same
 * with a probability of one in 10^17, unless somebody has made them for it.
 */
export class TextSet {
  #slots = slotsFirst;
  #words = new Uint32Array(slotsFirst * wordsInSlot);
  #size = 0;

  has(text: string): boolean {
    return this.#words[this.#find(wordsOf(text))] !== 0;
  }

  add(text: string): void {
    const words = wordsOf(text);
    const at = this.#find(words);
    if (this.#words[at] !== 0) return;
    this.#words.set(words, at);
    this.#size += 1;
    if (this.#size > this.#slots * 0.75) this.#grow();
  }

  /** Where the words stand, or the free slot for them. */
  #find([a, b, c]: Words): number {
    const mask = this.#slots - 1;
    for (let slot = b & mask; ; slot = (slot + 1) & mask) {
      const at = slot * wordsInSlot;
      const found = this.#words[at];
      if (found === 0 || (found === a && this.#words[at + 1] === b && this.#words[at + 2] === c)) return at;
    }
  }

  #grow(): void {
    const former = this.#words;
    this.#slots *= 2;
    this.#words = new Uint32Array(this.#slots * wordsInSlot);
    for (let at = 0; at < former.length; at += wordsInSlot) {
      if (former[at] === 0) continue;
      const words = former.subarray(at, at + wordsInSlot);
      this.#words.set(words, this.#find([words[0] ?? 0, words[1] ?? 0, words[2] ?? 0]));
    }
  }
}

type Words = readonly [number, number, number];

/**
 * Of two hashes that have nothing in common. One hash under several seeds would not do: texts that collide under one
 * seed may collide under all. The first word is never 0, which stands for a free slot.
 */
function wordsOf(text: string): Words {
  const { wyhash, xxHash3 } = Bun.hash;
  const one = wyhash(text, 1n);
  return [Number(one >> 32n) || 1, Number(one & 0xffff_ffffn), Number(xxHash3(text) & 0xffff_ffffn)];
}

const idsInBlock = 32_768;

/** A set of ids, which lie close together: a bit for each. */
export class IdSet {
  readonly #blocks = new Map<number, Uint32Array>();

  has(id: number): boolean {
    const place = id % idsInBlock;
    const word = this.#blocks.get(Math.floor(id / idsInBlock))?.[place >> 5] ?? 0;
    return ((word >>> (place & 31)) & 1) === 1;
  }

  add(id: number): void {
    const [number, place] = [Math.floor(id / idsInBlock), id % idsInBlock];
    const block = this.#blocks.get(number) ?? new Uint32Array(idsInBlock / 32);
    this.#blocks.set(number, block);
    block[place >> 5] = (block[place >> 5] ?? 0) | (1 << (place & 31));
  }
}
