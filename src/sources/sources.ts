// Sources owns who may bring profile data, by which token and under which settings.
// It never looks at that data. The configuration tables of the requirements (§1) and their Authentication (§5) are its terms.
// A token is found by its SHA-256; the sealed copy exists because a Power User may view it again.

import type { Clock } from '../clock.ts';
import { timestamp } from '../clock.ts';
import { DomainError } from '../errors.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { toId } from '../resource/resource-id.ts';
import { type AuditEvent, changed, type Operator, recordAudit, unnamedOperator } from '../security/audit.ts';
import { type SecretBox, sha256Hex } from '../security/secret-key.ts';
import { createToken, isTokenWellFormed } from '../security/tokens.ts';
import {
  advanceConfigurationVersion,
  configurationVersionAtOnce,
  readConfigurationVersion,
} from '../settings/settings-store.ts';
import { brokenUniqueRule } from '../storage/constraints.ts';
import type { Database, Tx } from '../storage/database.ts';
import { lockRows } from '../storage/row-lock.ts';
import { readSourceSettings, type SourceKind } from './source-settings.ts';
import {
  expireTokens,
  findSourceById,
  findSourceByNameKey,
  findToken,
  findTokenCiphertext,
  type GeneralSource,
  insertSource,
  insertToken,
  listSources,
  listTokens,
  type RecognisedToken,
  type ScimSource,
  type Source,
  type TokenFacts,
  updateSource,
} from './source-store.ts';
import { TokenCache } from './token-cache.ts';

const nameLengthMax = 200;
const daysMs = 24 * 60 * 60 * 1_000;

export interface SourceParts {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
}

/** A source that has shown its token. */
export interface Authenticated<S extends Source> {
  readonly source: S;
  /** Version of the configuration at that moment, for `Configurations.at`: one look at the database serves both. */
  readonly configurationVersion: string;
}

export interface NewSourceOptions {
  /** Settings that differ from their defaults, as texts. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly by?: Operator;
}

/** What is absent stays. */
export interface SourceChange {
  readonly name?: string | undefined;
  readonly active?: boolean | undefined;
  /** As texts, by name. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

export class Sources {
  readonly #tokens = new TokenCache();
  readonly #database: Database;
  readonly #secretBox: SecretBox;
  readonly #clock: Clock;

  constructor({ database, secretBox, clock }: SourceParts) {
    this.#database = database;
    this.#secretBox = secretBox;
    this.#clock = clock;
  }

  /** Makes an active source with its first token, in one transaction. */
  async create(
    kind: SourceKind,
    name: string,
    { settings: assignments = {}, by = unnamedOperator }: NewSourceOptions = {},
  ): Promise<{ source: Source; token: string }> {
    const settings = readSourceSettings(kind, assignments);
    const now = timestamp(this.#clock);
    const nameKey = checkName(name);
    return this.#named(name, async (tx) => {
      const row = { kind, name: name.trim(), nameKey, settings: JSON.stringify(settings), now };
      const id = await insertSource(tx, row);
      const token = await this.#issueToken(tx, id, kind);
      const source = await this.#required(tx, id);
      const after = { kind, name: source.name, active: true, ...settings };
      await recordAudit(tx, { action: 'source.create', by, subject: subjectOf(source), after }, now);
      return { source, token };
    });
  }

  list(): Promise<Source[]> {
    return listSources(this.#database.read);
  }

  /** The source with this name, else with this id. */
  async get(nameOrId: string): Promise<Source> {
    const db = this.#database.read;
    const byName = await findSourceByNameKey(db, canonicalKey(nameOrId));
    const source = byName ?? (await findSourceById(db, toId(nameOrId)));
    if (source !== undefined) return source;
    throw new DomainError(
      'notFound',
      `There is no source "${nameOrId}"; "rollcall source list" shows those there are.`,
    );
  }

  /** The active source of files with this name or id. Throws `notFound`, `invalidValue` or `forbidden`. */
  async getGeneral(nameOrId: string): Promise<GeneralSource> {
    const source = await this.get(nameOrId);
    if (source.kind === 'general') return requireActive(source);
    const detail = `The source "${source.name}" takes SCIM requests, not files; name a general source.`;
    throw new DomainError('invalidValue', detail);
  }

  /**
   * Changes name, state and settings together. Throws `notFound`, `invalidValue` or, for a name that another source has,
   * `uniqueness`; then nothing has changed. A file that names the source must carry its new name from then on.
   */
  async change(
    nameOrId: string,
    { name, active, settings: assignments = {} }: SourceChange,
    by = unnamedOperator,
  ): Promise<Source> {
    const { id, kind, name: former } = await this.get(nameOrId);
    const settings = readSourceSettings(kind, assignments);
    const naming = name === undefined ? {} : { name: name.trim(), nameKey: checkName(name) };
    const now = timestamp(this.#clock);
    return this.#named(name ?? former, async (tx) => {
      await lockRows(tx, 'source', [id]);
      const before = await this.#required(tx, id);
      const stored = JSON.stringify({ ...before.settings, ...settings });
      await updateSource(tx, id, { ...naming, active, settings: stored, now });
      const after = await this.#required(tx, id);
      const difference = changed(auditedState(before), auditedState(after));
      if (difference === undefined) return after;
      await recordAudit(tx, { action: 'source.change', by, subject: subjectOf(after), ...difference }, now);
      return after;
    });
  }

  /** The newest token of the source, as it was issued. That it was looked at is in the audit log, unless nobody did. */
  async revealToken(source: Source, by?: Operator): Promise<string> {
    const { id, name } = source;
    const now = timestamp(this.#clock);
    const ciphertext = await findTokenCiphertext(this.#database.read, id, now);
    if (ciphertext === undefined)
      throw new DomainError('notFound', `The source "${name}" has no token that is in force.`);
    const token = this.#secretBox.open(ciphertext, tokenContext(id));
    if (by !== undefined) {
      const event = { action: 'source.token.view', by, subject: subjectOf(source) } as const;
      await this.#database.write((tx) => recordAudit(tx, event, now));
    }
    return token;
  }

  /** Issues another token; those before it end after `overlapDays`. */
  async rotateToken(source: Source, overlapDays: number, by = unnamedOperator): Promise<string> {
    const { id, kind } = source;
    const now = timestamp(this.#clock);
    const formerEnd = new Date(this.#clock().getTime() + overlapDays * daysMs).toISOString();
    return this.#change(async (tx) => {
      await expireTokens(tx, id, formerEnd);
      const after = { formerTokensEnd: formerEnd };
      await recordAudit(tx, { action: 'source.token.issue', by, subject: subjectOf(source), after }, now);
      return this.#issueToken(tx, id, kind);
    });
  }

  /** The tokens of the source that are in force, newest first; never the tokens themselves. */
  listTokens({ id }: Pick<Source, 'id'>): Promise<TokenFacts[]> {
    return listTokens(this.#database.read, id, timestamp(this.#clock));
  }

  /** The source that a bearer token names. Throws `unauthenticated` or, for a source that is not active, `forbidden`. */
  async authenticateScim(token: string | undefined): Promise<Authenticated<ScimSource>> {
    const found = await this.#findByToken(token);
    if (found?.source.kind !== 'scim') {
      throw new DomainError(
        'unauthenticated',
        'Send the token of a SCIM source as "Authorization: Bearer TOKEN".',
        { isTokenRefused: token !== undefined },
      );
    }
    return { ...found, source: requireActive(found.source) };
  }

  /**
   * The same without waiting, for a token that was shown before; undefined whenever it takes more to tell. `look` may
   * read the version of the configuration together with what is asked; it is told whose the token was the last time.
   */
  recogniseScim(
    token: string,
    look?: (sourceId: number) => string | undefined,
  ): Authenticated<ScimSource> | undefined {
    const hash = sha256Hex(token);
    const last = this.#tokens.last(hash);
    if (last === undefined) return undefined;
    const configurationVersion = look?.(last.source.id) ?? configurationVersionAtOnce(this.#database.read);
    if (configurationVersion === undefined) return undefined;
    const known = this.#tokens.find(hash, configurationVersion);
    if (known === undefined || this.#hasExpired(known)) return undefined;
    const { source } = known;
    return source.kind === 'scim' && source.active ? { source, configurationVersion } : undefined;
  }

  /** The general source with this id, if the key is one of its own. Unknown source and wrong key answer alike. */
  async authenticateUpload(sourceId: string, key: string | undefined): Promise<Authenticated<GeneralSource>> {
    const found = await this.#findByToken(key);
    if (found?.source.kind !== 'general' || found.source.id !== toId(sourceId)) {
      throw new DomainError(
        'unauthenticated',
        "Send the source's Authorisation Token in the header X-ApiKey.",
        { isTokenRefused: key !== undefined },
      );
    }
    return { ...found, source: requireActive(found.source) };
  }

  async #findByToken(token: string | undefined): Promise<Authenticated<Source> | undefined> {
    if (token === undefined || !isTokenWellFormed(token)) return undefined;
    const db = this.#database.read;
    const configurationVersion = await readConfigurationVersion(db);
    const hash = sha256Hex(token);
    const known = this.#tokens.find(hash, configurationVersion);
    const found = known ?? (await findToken(db, hash));
    if (found === undefined) return undefined;
    if (known === undefined) this.#tokens.keep(hash, configurationVersion, found);
    return this.#hasExpired(found) ? undefined : { source: found.source, configurationVersion };
  }

  #hasExpired({ expires }: RecognisedToken): boolean {
    return expires !== null && expires <= timestamp(this.#clock);
  }

  /** A change of a source under this name; that another has it is told as a person would. */
  async #named<T>(name: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    try {
      return await this.#change(work);
    } catch (error) {
      if (brokenUniqueRule(error) !== 'source_name') throw error;
      const detail = `There is a source named "${name.trim()}" already; choose another name.`;
      throw new DomainError('uniqueness', detail, { attribute: 'name' });
    }
  }

  /** Whoever holds a copy of a source or a token, in whichever process, sees by the version that it is old. */
  #change<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#database.write(async (tx) => {
      const result = await work(tx);
      await advanceConfigurationVersion(tx);
      return result;
    });
  }

  async #issueToken(tx: Tx, sourceId: number, kind: SourceKind): Promise<string> {
    const token = createToken(kind === 'scim' ? 'scim' : 'upload');
    const ciphertext = this.#secretBox.seal(token, tokenContext(sourceId));
    await insertToken(tx, { sourceId, hash: sha256Hex(token), ciphertext, now: timestamp(this.#clock) });
    return token;
  }

  async #required(tx: Tx, id: number): Promise<Source> {
    const source = await findSourceById(tx, id);
    if (source === undefined) throw new DomainError('notFound', `The source ${id} has been removed.`);
    return source;
  }
}

function requireActive<S extends Source>(source: S): S {
  if (source.active) return source;
  throw new DomainError(
    'forbidden',
    `The source "${source.name}" is not active; a Power User, or "rollcall source activate", can change that.`,
  );
}

function subjectOf({ id, name }: Source): AuditEvent['subject'] {
  return { id: String(id), name };
}

function auditedState({ name, active, settings }: Source): Record<string, unknown> {
  return { name, active, ...settings };
}

function tokenContext(sourceId: number): string {
  return `source_token:${sourceId}`;
}

function checkName(name: string): string {
  const key = canonicalKey(name);
  if (/^\d+$/.test(key)) {
    throw new DomainError(
      'invalidValue',
      `A source needs a name with more than digits: "${name.trim()}" could be the id of another.`,
    );
  }
  if (key.length > 0 && name.length <= nameLengthMax && !/\p{Cc}/u.test(name)) return key;
  throw new DomainError(
    'invalidValue',
    `A source needs a name of 1 to ${nameLengthMax} printable characters.`,
  );
}
