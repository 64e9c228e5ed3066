import type { Selectable } from 'kysely';
import type { Reader, Tx } from '../storage/database.ts';
import type { SourceTable } from '../storage/schema.ts';
import { statement } from '../storage/statement.ts';
import { type SettingsOf, type SourceKind, toSourceSettings } from './source-settings.ts';

interface SourceOf<K extends SourceKind> {
  readonly id: number;
  readonly kind: K;
  readonly name: string;
  readonly active: boolean;
  readonly settings: SettingsOf<K>;
  readonly created: string;
}

export type ScimSource = SourceOf<'scim'>;
export type GeneralSource = SourceOf<'general'>;
/** A profile source: the account of one outside system, with its rights and settings. */
export type Source = ScimSource | GeneralSource;

function toSource(row: Selectable<SourceTable>): Source {
  const { id, kind, name, created } = row;
  const settings = toSourceSettings(kind, JSON.parse(row.settings));
  return { id, kind, name, created, active: row.active === 1, settings } as Source;
}

const tokensMax = 1_000;

type TokenRow = Selectable<SourceTable> & { expires: string | null };

const selectByTokenHash = statement<{ hash: string }, TokenRow>((db, place) =>
  db
    .selectFrom('source_token')
    .innerJoin('source', 'source.id', 'source_token.source_id')
    .selectAll('source')
    .select('source_token.expires')
    .where('source_token.hash', '=', place('hash')),
);

export interface RecognisedToken {
  readonly source: Source;
  /** Null for a token without an end. */
  readonly expires: string | null;
}

/** The token whose SHA-256 is `hash`, and its source, even when it has expired. */
export async function findToken(db: Reader, hash: string): Promise<RecognisedToken | undefined> {
  const [row] = await selectByTokenHash(db, { hash });
  return row && { source: toSource(row), expires: row.expires };
}

export async function findSourceById(db: Reader, id: number): Promise<Source | undefined> {
  const row = await db.selectFrom('source').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toSource(row);
}

export async function findSourceByNameKey(db: Reader, nameKey: string): Promise<Source | undefined> {
  const row = await db.selectFrom('source').selectAll().where('name_key', '=', nameKey).executeTakeFirst();
  return row && toSource(row);
}

export async function listSources(db: Reader): Promise<Source[]> {
  const rows = await db.selectFrom('source').selectAll().orderBy('id').execute();
  return rows.map(toSource);
}

export interface NewSource {
  readonly kind: SourceKind;
  readonly name: string;
  readonly nameKey: string;
  readonly settings: string;
  readonly now: string;
}

export async function insertSource(
  tx: Tx,
  { kind, name, nameKey, settings, now }: NewSource,
): Promise<number> {
  const { id } = await tx
    .insertInto('source')
    .values({ kind, name, name_key: nameKey, active: 1, settings, created: now, modified: now })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export interface SourceUpdate {
  readonly name?: string;
  readonly nameKey?: string;
  readonly active?: boolean | undefined;
  readonly settings: string;
  readonly now: string;
}

export async function updateSource(
  tx: Tx,
  id: number,
  { name, nameKey, active, settings, now }: SourceUpdate,
): Promise<void> {
  await tx
    .updateTable('source')
    .set({
      modified: now,
      settings,
      ...(name === undefined ? {} : { name, name_key: nameKey }),
      ...(active === undefined ? {} : { active: active ? 1 : 0 }),
    })
    .where('id', '=', id)
    .execute();
}

export async function insertToken(
  tx: Tx,
  token: {
    readonly sourceId: number;
    readonly hash: string;
    readonly ciphertext: string;
    readonly now: string;
  },
): Promise<void> {
  const { sourceId, hash, ciphertext, now } = token;
  await tx
    .insertInto('source_token')
    .values({ source_id: sourceId, hash, ciphertext, created: now, expires: null })
    .execute();
}

/** What may be known of a token besides the token. */
export interface TokenFacts {
  readonly id: number;
  readonly created: string;
  /** Null for a token without an end. */
  readonly expires: string | null;
}

/** The tokens of the source that have not expired, newest first. */
export async function listTokens(db: Reader, sourceId: number, now: string): Promise<TokenFacts[]> {
  return db
    .selectFrom('source_token')
    .select(['id', 'created', 'expires'])
    .where('source_id', '=', sourceId)
    .where((is) => is.or([is('expires', 'is', null), is('expires', '>', now)]))
    .orderBy('id', 'desc')
    .limit(tokensMax)
    .execute();
}

/** The newest token of the source that has not expired, sealed. */
export async function findTokenCiphertext(
  db: Reader,
  sourceId: number,
  now: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('source_token')
    .select('ciphertext')
    .where('source_id', '=', sourceId)
    .where((is) => is.or([is('expires', 'is', null), is('expires', '>', now)]))
    .orderBy('id', 'desc')
    .executeTakeFirst();
  return row?.ciphertext;
}

/** Lets every token of the source that has no end yet end at `expires`. */
export async function expireTokens(tx: Tx, sourceId: number, expires: string): Promise<void> {
  await tx
    .updateTable('source_token')
    .set({ expires })
    .where('source_id', '=', sourceId)
    .where((is) => is.or([is('expires', 'is', null), is('expires', '>', expires)]))
    .execute();
}
