import type { Database, Reader } from '../storage/database.ts';
import { atOneMoment } from '../storage/statement.ts';
import { Blocks } from './blocks.ts';
import type { Link } from './resource-view.ts';
import { type Glimpse, usersAtOnce, versionsAtOnce } from './user-read-store.ts';
import type { ResourceText, SeenUser, UserTexts, Viewer } from './user-texts.ts';

export interface TextPage {
  readonly totalResults: number;
  readonly texts: readonly ResourceText[];
}

const strangersMax = 16;

/**
 * The reads that clients ask most, for sources that see everything, without waiting for anything. Each answers what
 * the ordinary way answers (query.ts, users.ts) from the same tables; undefined where the engine has to wait.
 */
export class UsersAtOnce {
  readonly #database: Database;
  readonly #texts: UserTexts;
  readonly #blocks = new Blocks();
  /** Rises with names of users whose texts are not kept, and falls with others. */
  #strangers = 0;

  constructor(database: Database, texts: UserTexts) {
    this.#database = database;
    this.#texts = texts;
  }

  /** Whether there is a user with this id, and at which version; all of one who is shown for the first time. */
  glimpse(id: number, sourceId: number): readonly Glimpse[] | undefined {
    const db = this.#database.read;
    return this.#texts.mayHave(id) ? versionsAtOnce.ofUser(db, id) : versionsAtOnce.whole(db, id, sourceId);
  }

  /** The same for a canonical userName, whose id is not known: what was so of most names lately is taken to be so. */
  glimpseByName(key: string, sourceId: number): readonly Glimpse[] | undefined {
    const db = this.#database.read;
    const seen =
      this.#strangers > strangersMax / 2
        ? versionsAtOnce.wholeByName(db, key, sourceId)
        : versionsAtOnce.byName(db, key);
    const [user] = seen ?? [];
    if (user !== undefined) this.#count(this.#texts.mayHave(user.id));
    return seen;
  }

  #count(isKnown: boolean): void {
    const { max, min } = Math;
    this.#strangers = isKnown ? max(0, this.#strangers - 1) : min(strangersMax, this.#strangers + 1);
  }

  /** The users that were seen, as answers show them. */
  texts(viewer: Viewer, link: Link, seen: readonly SeenUser[]): readonly ResourceText[] | undefined {
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
      const ids = this.#blocks.ids(db, startIndex - 1, count);
      if (totalResults === undefined || ids === undefined) return undefined;
      const seen = this.#seenOf(db, viewer, ids);
      const texts = seen && this.texts(viewer, link, seen);
      return texts && { totalResults, texts };
    });
  }

  /** A page whose first user is not known is most often one of which nobody is: then versions alone are of no use. */
  #seenOf(db: Reader, viewer: Viewer, ids: readonly number[]): readonly SeenUser[] | undefined {
    const [first, last] = [ids[0], ids.at(-1)];
    if (first === undefined || last === undefined) return [];
    if (!this.#texts.mayHave(first)) {
      const users = usersAtOnce(db, ids, viewer.sourceId);
      return users?.map((user) => ({ id: user.id, version: user.version, user }));
    }
    return versionsAtOnce.within(db, { from: first, to: last });
  }
}
