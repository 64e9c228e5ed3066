import type { Configuration } from '../settings/configuration.ts';
import type { GeneralSource } from '../sources/source-store.ts';
import type { UserRecord } from '../xml/records.ts';
import type { ImportOptions } from './options.ts';
import type { DefaultUnits, RecordUnits } from './profile-record.ts';

/** Counts changes of what a record means: digests of before no longer count. */
const meaning = 2;
const hexCharacters = 32;

/** Everything but the record that decides what becomes of it: when this changes, no record counts as unchanged. */
export function digestContext(
  options: ImportOptions,
  configuration: Configuration,
  defaultUnits: DefaultUnits,
): string {
  const schemas = configuration.userType.extensions.map(({ id, attributes }) => [
    id,
    attributes.map(({ name, type }) => [name, type, configuration.fieldPatterns.has(name)]),
  ]);
  // What happens to people who are missing concerns no record.
  const { actionMissingDeletedUsers: _action, mode: _mode, ...concerning } = options;
  return sha256(JSON.stringify([meaning, concerning, schemas, defaultUnits]));
}

/**
 * What was in force when a document came in: the same bytes need no second look as long as this is the same. It covers
 * more than a run depends on, so that nothing needs to be read to compare it.
 */
export function circumstancesOf({ name, settings }: GeneralSource, { version }: Configuration): string {
  return sha256(JSON.stringify([meaning, name, settings, version]));
}

/**
 * 128 bits of SHA-256 over what the record itself says. The line does not count, nor the password: it is for new users
 * only, and a digest of it would tell something about it.
 */
export function contentDigest(record: UserRecord): string {
  const { password: _password, ...leaves } = record.leaves;
  const { id, username, phones, ims, addresses, additionalfields } = record;
  return sha256(JSON.stringify([id, username, leaves, phones, ims, addresses, additionalfields]));
}

/** The same over the record with all that decides what becomes of it: its references resolved, and the context. */
export function recordDigest(
  context: string,
  content: string,
  references: { readonly units: RecordUnits; readonly groups: readonly string[] | undefined },
): string {
  return sha256(context + content + JSON.stringify([references.units, references.groups]));
}

function sha256(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, hexCharacters);
}

/** Stands in place of a digest for someone who was missing and disabled: being in a file again enables them. */
export const missingDigest = 'missing';
