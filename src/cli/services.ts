import { existsSync } from 'node:fs';
import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config/options.ts';
import { DomainError } from '../errors.ts';
import { openSecretBox, type SecretBox } from '../security/secret-key.ts';
import { Configurations } from '../settings/configuration.ts';
import { Sources } from '../sources/sources.ts';
import type { Database } from '../storage/database.ts';
import {
  type DataFolder,
  makeDataFolder,
  noDatabase,
  requireDataFolder,
  requireWritable,
} from './data-folder.ts';
import { type OpenOptions, openDatabase } from './open-database.ts';

/** What a process of this program works with. */
export interface Services extends AsyncDisposable {
  readonly folder: DataFolder;
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly sources: Sources;
  readonly configurations: Configurations;
  /** Waits for the writes under way and closes the database. */
  close(): Promise<void>;
}

/** Opens key and database, making what is not there yet, and brings the tables to this release. */
export async function openServices(config: Config, options: OpenOptions = {}): Promise<Services> {
  return openIn(makeDataFolder(config.data), config, options);
}

/**
 * The same for a command, beside which a server may run. One that only looks does not pass `create`: a mistyped path,
 * or one without a database, is then an error instead of another empty folder or database.
 */
export async function openForCommand(config: Config, options: CommandOptions = {}): Promise<Services> {
  const { create = false, ...others } = options;
  const folder = create ? makeDataFolder(config.data) : requireDataFolder(config.data);
  if (!create && config.database === undefined && !existsSync(folder.database)) throw noDatabase(folder);
  return openIn(folder, config, { ...others, isBesideServer: true });
}

export interface CommandOptions extends Pick<OpenOptions, 'onMigrated'> {
  readonly create?: boolean;
}

async function openIn(folder: DataFolder, config: Config, options: OpenOptions): Promise<Services> {
  requireWritable(folder);
  const secretBox = openKey(folder);
  const database = await openDatabase(config, folder, options);
  const clock = systemClock;
  const close = () => database.close();
  return {
    folder,
    database,
    secretBox,
    clock,
    sources: new Sources({ database, secretBox, clock }),
    configurations: new Configurations(database),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function openKey({ secretKey }: DataFolder): SecretBox {
  try {
    return openSecretBox(secretKey);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const detail = code === undefined ? `${message}.` : `The key ${secretKey} cannot be opened: ${code}.`;
    throw new DomainError('unavailable', detail, { cause: error });
  }
}
