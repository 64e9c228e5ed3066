import type { Kysely } from 'kysely';
import type { Dialect } from '../database.ts';
import { up as init } from './0001-init.ts';

export type Migrate = (db: Kysely<unknown>, dialect: Dialect) => Promise<void>;

/** Forward only, and not edited once released. */
export const migrations: Readonly<Record<string, Migrate>> = {
  '0001-init': init,
};
