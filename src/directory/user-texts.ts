import type { Reader } from '../storage/database.ts';
import type { DirectoryContext } from './context.ts';
import type { Link } from './resource-view.ts';
import { type Stamp, TextCache } from './text-cache.ts';
import { readUsers, readVersions } from './user-read-store.ts';
import { userText } from './user-text.ts';

/** A resource as an answer shows it. */
export interface ResourceText {
  readonly id: number;
  readonly version: number;
  /** JSON of the resource under the default projection. */
  readonly text: string;
}

const cacheBytesMax = 32 * 1024 * 1024;

/**
 * Users as JSON text. A text is kept for the version of the user that was read with it, which moves with everything
 * that the text shows (touch-store.ts), and for the source, configuration and address that it was made for. Only for
 * sources that see everything: what another source sees depends on more than the user.
 */
export class UserTexts {
  readonly #cache = new TextCache(cacheBytesMax);

  /** The live ones of the users with these ids, in the order of `ids`. */
  async read(
    db: Reader,
    context: DirectoryContext,
    link: Link,
    ids: readonly number[],
  ): Promise<ResourceText[]> {
    const { sourceId, configuration } = context;
    const view = `${sourceId} ${configuration.version} ${link('User', 0)}`;
    const found = new Map<number, ResourceText>();
    const missing: number[] = [];
    for (const { id, version, manager_display_name: manager } of await readVersions(db, ids)) {
      const text = this.#cache.find(view, id, stampOf(version, manager));
      if (text === undefined) missing.push(id);
      else found.set(id, { id, version, text });
    }
    for (const user of missing.length === 0 ? [] : await readUsers(db, missing, sourceId)) {
      const { id, version } = user;
      // Archived since its version was read.
      if (user.state === 'archived') continue;
      const text = userText(user, configuration, link);
      this.#cache.keep(view, id, { stamp: stampOf(version, user.manager?.displayName ?? null), text });
      found.set(id, { id, version, text });
    }
    return ids.flatMap((id) => found.get(id) ?? []);
  }
}

function stampOf(version: number, manager: string | null): Stamp {
  return manager === null ? version : `${version} ${manager}`;
}
