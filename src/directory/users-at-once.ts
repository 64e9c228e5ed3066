import type { Database } from '../storage/database.ts';
import { atOneMoment } from '../storage/statement.ts';
import { Blocks } from './blocks.ts';
import type { Link } from './resource-view.ts';
import { type Glimpse, type LiveVersion, versionsAtOnce } from './user-read-store.ts';
import type { ResourceText, UserTexts, Viewer } from './user-texts.ts';

export interface TextPage {
  readonly totalResults: number;
  readonly texts: readonly ResourceText[];
}

/**
 * The reads that clients ask most, for sources that see everything, without waiting for anything. Each answers what
 * the ordinary way answers (query.ts, users.ts) from the same tables; undefined where the engine has to wait.
 */
export class UsersAtOnce {
  readonly #database: Database;
  readonly #texts: UserTexts;
  readonly #blocks = new Blocks();

  constructor(database: Database, texts: UserTexts) {
    this.#database = database;
    this.#texts = texts;
  }

  /** Whether there is a user with this id, and at which version. */
  glimpse(id: number): readonly Glimpse[] | undefined {
    return versionsAtOnce.ofUser(this.#database.read, id);
  }

  /** The same for a canonical userName. */
  glimpseByName(key: string): readonly Glimpse[] | undefined {
    return versionsAtOnce.byName(this.#database.read, key);
  }

  /** The users that were seen, as answers show them. */
  texts(viewer: Viewer, link: Link, seen: readonly LiveVersion[]): readonly ResourceText[] | undefined {
    return this.#texts.atOnce(this.#database.read, viewer, link, seen);
  }

  /** All users in the order of their ids, from the `startIndex`-th on. */
  page(
    viewer: Viewer,
    link: Link,
    { startIndex, count }: { readonly startIndex: number; readonly count: number },
  ): TextPage | undefined {
    const db = this.#database.read;
    return atOneMoment(db, () => {
      const totalResults = this.#blocks.total(db);
      if (totalResults === undefined) return undefined;
      const place = this.#blocks.placeOf(db, startIndex - 1);
      if (place === undefined) return { totalResults, texts: [] };
      const from = this.#blocks.idAt(db, place);
      const versions = from === undefined ? undefined : versionsAtOnce.ofPage(db, { from, count });
      const texts = versions && this.texts(viewer, link, versions);
      return texts && { totalResults, texts };
    });
  }
}
