import { type Clock, timestamp } from '../clock.ts';
import type { DirectoryContext } from '../directory/context.ts';
import type { PasswordHasher } from '../security/password-hash.ts';
import type { SecretBox } from '../security/secret-key.ts';
import type { Configuration } from '../settings/configuration.ts';
import type { Database } from '../storage/database.ts';
import type { Run } from './run-store.ts';
import type { RunWriter } from './run-writer.ts';

/** Everything that the phases of one run share. */
export interface Application {
  readonly database: Database;
  readonly run: Run;
  readonly writer: RunWriter;
  readonly hasher: PasswordHasher;
  readonly secretBox: SecretBox;
  readonly configuration: Configuration;
  readonly clock: Clock;
  /** Aborted between batches. */
  readonly signal: AbortSignal;
}

/** On behalf of the run's source, now. */
export function contextOf({ run, configuration, clock }: Application): DirectoryContext {
  return {
    actor: { kind: 'source', id: run.sourceId },
    sourceId: run.sourceId,
    scope: 'all',
    unknownReferences: 'reject',
    requestId: null,
    runId: run.id,
    configuration,
    now: timestamp(clock),
  };
}
