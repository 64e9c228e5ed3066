import type { Reader } from '../storage/database.ts';
import { type BlockRange, userList } from './list-store.ts';

/** A megabyte or two; a list that is longer is read in order, block after block. */
const blocksMax = 64;

interface Kept {
  readonly changes: number;
  readonly ids: readonly number[];
}

/**
 * The ids of live users by block, so that the row at which a page begins need not be counted up to each time. They are
 * good for the count of changes that `resource_block` has for the block, which was read before they were.
 */
export class BlockIds {
  readonly #kept = new Map<number, Kept>();

  /** The id behind `skip` others of the block; undefined where the engine has to wait. */
  idAt(db: Reader, range: BlockRange, skip: number): number | undefined {
    const { from, changes } = range;
    const known = this.#kept.get(from);
    if (known?.changes === changes) return known.ids[skip];
    const ids = userList.idsAtOnce(db, range);
    if (ids === undefined) return undefined;
    if (this.#kept.size >= blocksMax) this.#kept.clear();
    this.#kept.set(from, { changes, ids });
    return ids[skip];
  }
}
