import type { Reader } from '../storage/database.ts';
import type { DirectoryContext } from './context.ts';
import type { Link } from './resource-view.ts';
import { TextCache } from './text-cache.ts';
import {
  type LiveVersion,
  readUsers,
  readVersions,
  type StoredUser,
  usersAtOnce,
} from './user-read-store.ts';
import { userTextWriter } from './user-text.ts';

/** A resource as an answer shows it. */
export interface ResourceText {
  readonly id: number;
  readonly version: number;
  /** JSON of the resource under the default projection. */
  readonly text: string;
}

/** A user at a version; `user` if it was read with it. */
export type SeenUser = LiveVersion & { readonly user?: StoredUser };

/** Who is shown the users: a source that sees everything. */
export type Viewer = Pick<DirectoryContext, 'sourceId' | 'configuration'>;

const cacheBytesMax = 24 * 1024 * 1024;

/**
 * Users as JSON text. A text is kept for the version of the user that was read with it, which moves with everything
 * that the text shows (touch-store.ts), and for the source, configuration and address that it was made for. Only for
 * sources that see everything: what another source sees depends on more than the user.
 */
export class UserTexts {
  readonly #cache = new TextCache(cacheBytesMax);

  /** The live ones of the users with these ids, in the order of `ids`. */
  async read(db: Reader, viewer: Viewer, link: Link, ids: readonly number[]): Promise<ResourceText[]> {
    const view = viewOf(viewer, link);
    const { found, missing } = this.#kept(view, await readVersions(db, ids));
    const users = missing.length === 0 ? [] : await readUsers(db, missing, viewer.sourceId);
    this.#render(users, { view, viewer, link, found });
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  /** The users at these versions, in their order, without waiting; undefined where the engine has to wait. */
  atOnce(db: Reader, viewer: Viewer, link: Link, seen: readonly SeenUser[]): ResourceText[] | undefined {
    const view = viewOf(viewer, link);
    const all = this.#allKept(view, seen);
    if (all !== undefined) return all;
    const { found, missing } = this.#kept(view, seen);
    const isMissing = new Set(missing);
    const read = seen.flatMap(({ id, user }) => (user !== undefined && isMissing.delete(id) ? [user] : []));
    const users = usersAtOnce(db, [...isMissing], viewer.sourceId);
    if (users === undefined) return undefined;
    this.#render([...read, ...users], { view, viewer, link, found });
    return seen.flatMap(({ id }) => found.get(id) ?? []);
  }

  /** Whether there may be a text of the user: under some version, for some viewer. */
  mayHave(id: number): boolean {
    return this.#cache.has(id);
  }

  /** Undefined when the text of any of them is missing. */
  #allKept(view: string, versions: readonly LiveVersion[]): ResourceText[] | undefined {
    const texts: ResourceText[] = [];
    for (const { id, version } of versions) {
      const text = this.#cache.find(view, id, version);
      if (text === undefined) return undefined;
      texts.push({ id, version, text });
    }
    return texts;
  }

  #kept(view: string, versions: readonly LiveVersion[]) {
    const found = new Map<number, ResourceText>();
    const missing: number[] = [];
    for (const { id, version } of versions) {
      const text = this.#cache.find(view, id, version);
      if (text === undefined) missing.push(id);
      else found.set(id, { id, version, text });
    }
    return { found, missing };
  }

  #render(users: readonly StoredUser[], { view, viewer, link, found }: Rendering): void {
    if (users.length === 0) return;
    const write = userTextWriter(viewer.configuration, link);
    for (const user of users) {
      // Archived since its version was read.
      if (user.state === 'archived') continue;
      const { id, version } = user;
      const text = write(user);
      this.#cache.offer(view, id, { version, text });
      found.set(id, { id, version, text });
    }
  }
}

interface Rendering {
  readonly view: string;
  readonly viewer: Viewer;
  readonly link: Link;
  readonly found: Map<number, ResourceText>;
}

function viewOf({ sourceId, configuration }: Viewer, link: Link): string {
  return `${sourceId} ${configuration.version} ${link('User', 0)}`;
}
