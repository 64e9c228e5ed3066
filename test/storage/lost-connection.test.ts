import { expect, test } from 'bun:test';
import { Client } from 'pg';
import { toStorageError } from '../../src/storage/constraints.ts';
import { dialects, openTestDatabase } from '../support/database.ts';

test.skipIf(!dialects().includes('postgres'))(
  'a connection that was lost before a query, or is closed, is no fault of the query',
  async () => {
    await using place = await openTestDatabase('postgres');
    const lost = new Client({ connectionString: place.location });
    const other = new Client({ connectionString: place.location });
    await Promise.all([lost.connect(), other.connect()]);
    const isGone = new Promise((resolve) => lost.on('error', resolve));
    const [backend] = (await lost.query('select pg_backend_pid() as id')).rows;
    await other.query('select pg_terminate_backend($1)', [backend.id]);
    await isGone;
    const failed = await lost.query('select 1').catch((error: unknown) => error);
    expect(String(failed)).toContain('not queryable');
    expect(toStorageError(failed)).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 5 });
    await other.end();
    const closed = await other.query('select 1').catch((error: unknown) => error);
    expect(toStorageError(closed)).toMatchObject({ kind: 'unavailable' });
  },
);
