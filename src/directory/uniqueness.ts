import { DomainError } from '../errors.ts';
import { brokenUniqueRule } from '../storage/constraints.ts';
import type { Database, Tx } from '../storage/database.ts';
import { writeBraked } from './brake.ts';

const sentences = {
  user_name_live: ['userName', 'Another user has this userName; choose another one.'],
  source_link_external: [
    'externalId',
    'Another resource of this source has this externalId; choose another one.',
  ],
  group_name_live: ['displayName', 'Another group of this type has this displayName; choose another one.'],
} as const;

/** The database keeps uniqueness (two requests at once cannot both win); this says in SCIM's words what it refused. */
function toUniquenessError(error: unknown): unknown {
  const rule = brokenUniqueRule(error);
  if (rule === undefined || !(rule in sentences)) return error;
  const [attribute, detail] = sentences[rule as keyof typeof sentences];
  return new DomainError('uniqueness', detail, { attribute, cause: error });
}

/** `database.write`, with a broken uniqueness rule told as `uniqueness`, and with the brake of the source. */
export async function writeUnique<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await writeBraked(database, work);
  } catch (error) {
    throw toUniquenessError(error);
  }
}

/**
 * `writeUnique` for a create: on PostgreSQL the same resource may have been created since this transaction looked for
 * a match. Then there is one now, and the second look finds it.
 */
export async function writeCreate<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  try {
    return await writeUnique(database, work);
  } catch (error) {
    const isBrokenRule =
      error instanceof DomainError && error.kind === 'uniqueness' && error.cause !== undefined;
    if (!isBrokenRule) throw error;
    return writeUnique(database, work);
  }
}
