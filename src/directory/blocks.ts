import type { Reader } from '../storage/database.ts';
import { dataVersionOf } from '../storage/statement.ts';
import { type BlockRange, type BlockSums, blockIds, userList } from './list-store.ts';

/** Sixteen million people; each block takes a quarter of a KiB. */
const blocksMax = 8_192;

/** Which ids of a block are there: one bit each. */
interface Present {
  readonly changes: number;
  readonly bits: Uint8Array;
}

/** The blocks of live users, as of one state of the database. */
interface Ranges {
  readonly sums: BlockSums;
  readonly ranges: readonly BlockRange[];
  /** How many users there are before each of `ranges`, and after the last of them. */
  readonly before: readonly number[];
}

/**
 * Where each row of the list of users is, without counting up to it each time, nor reading the counts of all blocks:
 * what was read is kept until something has been committed, and what no change has touched, further on. To be used at
 * one moment with what is read by it (`atOneMoment`).
 */
export class Blocks {
  readonly #present = new Map<number, Present>();
  #ranges: Ranges | undefined;
  #dataVersion: number | undefined;

  /** How many users there are; undefined where the engine has to wait. */
  total(db: Reader): number | undefined {
    return this.#current(db)?.sums.live;
  }

  /** At most `count` ids in their order, from behind `skip` others on; undefined where the engine has to wait. */
  ids(db: Reader, skip: number, count: number): number[] | undefined {
    const current = this.#current(db);
    if (current === undefined) return undefined;
    const { ranges, before } = current;
    const found: number[] = [];
    for (let i = rangeOf(before, skip); i < ranges.length && found.length < count; i += 1) {
      const range = ranges[i];
      const bits = range && this.#bitsOf(db, range);
      if (bits === undefined) return undefined;
      collect(found, { first: range?.from ?? 0, bits, skip: Math.max(0, skip - (before[i] ?? 0)), count });
    }
    return found;
  }

  #bitsOf(db: Reader, range: BlockRange): Uint8Array | undefined {
    const { from, changes, live } = range;
    if (live === blockIds) return allPresent;
    const known = this.#present.get(from);
    if (known?.changes === changes) return known.bits;
    const ids = userList.idsAtOnce(db, range);
    if (ids === undefined) return undefined;
    const bits = new Uint8Array(blockIds / 8);
    for (const id of ids) bits[(id - from) >> 3] = (bits[(id - from) >> 3] ?? 0) | (1 << ((id - from) & 7));
    if (this.#present.size >= blocksMax) this.#present.clear();
    this.#present.set(from, { changes, bits });
    return bits;
  }

  #current(db: Reader): Ranges | undefined {
    const dataVersion = dataVersionOf(db);
    if (dataVersion === undefined || dataVersion === this.#dataVersion) return this.#ranges;
    const sums = userList.sumsAtOnce(db);
    const isSame = sums?.blocks === this.#ranges?.sums.blocks && sums?.changes === this.#ranges?.sums.changes;
    if (!isSame || this.#ranges === undefined) this.#ranges = sums && rangesOf(db, sums);
    this.#dataVersion = this.#ranges && dataVersion;
    return this.#ranges;
  }
}

const allPresent = new Uint8Array(blockIds / 8).fill(0xff);

function rangesOf(db: Reader, sums: BlockSums): Ranges | undefined {
  const ranges = userList.rangesAtOnce(db);
  if (ranges === undefined) return undefined;
  const before = [0];
  for (const { live } of ranges) before.push((before.at(-1) ?? 0) + live);
  return { sums, ranges, before };
}

/** The first range that ends behind `skip` rows. */
function rangeOf(before: readonly number[], skip: number): number {
  let [low, high] = [0, before.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((before[middle + 1] ?? 0) <= skip) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Wanted {
  /** Id of the first bit. */
  readonly first: number;
  readonly bits: Uint8Array;
  /** How many of those that are there to pass over. */
  readonly skip: number;
  readonly count: number;
}

/** Adds the ids whose bits are set, behind the first `skip` of them, until there are `count`. */
function collect(found: number[], { first, bits, skip, count }: Wanted): void {
  let left = skip;
  for (let i = 0; i < bits.length; i += 1) {
    const byte = bits[i] ?? 0;
    const here = onesIn[byte] ?? 0;
    if (left >= here) {
      left -= here;
      continue;
    }
    for (let bit = 0; bit < 8; bit += 1) {
      if ((byte & (1 << bit)) === 0) continue;
      if (left > 0) left -= 1;
      else found.push(first + 8 * i + bit);
      if (found.length === count) return;
    }
  }
}

/** How many bits of each byte are set. */
const onesIn = Uint8Array.from({ length: 256 }, (_, byte) => {
  let ones = 0;
  for (let rest = byte; rest > 0; rest >>= 1) ones += rest & 1;
  return ones;
});
