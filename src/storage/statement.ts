import type { Compilable, CompiledQuery, DialectAdapter, Kysely } from 'kysely';
import type { Tables } from './schema.ts';

/** Runs a compiled query and returns its rows. */
type Run = <R>(text: string, parameters: readonly unknown[]) => readonly R[];

/** The adapter of an engine with one connection, which needs no pool: a compiled query goes straight to it. */
export interface DirectAdapter extends DialectAdapter {
  readonly run: Run;
  /** Whether the connection has a transaction open. */
  readonly isInTransaction: () => boolean;
}

function isDirect(adapter: DialectAdapter): adapter is DirectAdapter {
  return 'run' in adapter;
}

/** Runs a compiled query with these values: Kysely's way to a connection takes longer than most queries. */
export async function runCompiled<R>(
  db: Kysely<Tables>,
  compiled: CompiledQuery<R>,
  parameters: readonly unknown[],
): Promise<readonly R[]> {
  const { adapter } = db.getExecutor();
  if (isDirect(adapter)) return adapter.run<R>(compiled.sql, parameters);
  const { rows } = await db.executeQuery<R>({ ...compiled, parameters });
  return rows;
}

/**
 * Lets all statements of `work`, which may wait for nothing, see one state of the database, on an engine with one
 * connection: each by itself would look for the newest state, which takes longer than finding a row.
 */
export function atOneMoment<T>(db: Kysely<Tables>, work: () => T): T {
  const { adapter } = db.getExecutor();
  if (!isDirect(adapter) || adapter.isInTransaction()) return work();
  adapter.run('begin', []);
  try {
    return work();
  } finally {
    adapter.run('commit', []);
  }
}

/**
 * Differs from what it was as soon as another connection has committed anything; undefined on an engine that cannot say
 * so without waiting. Inside of `atOneMoment` it is that of the moment.
 */
export function dataVersionOf(db: Kysely<Tables>): number | undefined {
  const { adapter } = db.getExecutor();
  if (!isDirect(adapter)) return undefined;
  return adapter.run<{ data_version: number }>('pragma data_version', [])[0]?.data_version;
}

/** Stands in a query where the value of a parameter will be. */
class Place {
  constructor(readonly name: string) {}
}

type PlaceOf<P> = <K extends keyof P & string>(name: K) => P[K];

export interface PreparedQuery<P, R> {
  (db: Kysely<Tables>, parameters: P): Promise<R[]>;
  /** The same without waiting, which only an engine with one connection can; undefined on any other. */
  atOnce(db: Kysely<Tables>, parameters: P): readonly R[] | undefined;
}

/**
 * A query that is built and compiled once for each engine, then only run with other values: building a query costs
 * ten times what SQLite needs to answer it. `build` names each parameter by `place('name')`.
 */
export function statement<P extends Record<string, unknown>, R>(
  build: (db: Kysely<Tables>, place: PlaceOf<P>) => Compilable<R>,
): PreparedQuery<P, R> {
  const compiledFor = new WeakMap<object, CompiledQuery<R>>();
  const place = ((name: string) => new Place(name)) as unknown as PlaceOf<P>;
  const compiledOn = (db: Kysely<Tables>, adapter: DialectAdapter) => {
    const known = compiledFor.get(adapter);
    if (known !== undefined) return known;
    const compiled = build(db, place).compile();
    compiledFor.set(adapter, compiled);
    return compiled;
  };
  const valuesOf = (compiled: CompiledQuery<R>, parameters: P) =>
    compiled.parameters.map((value) => (value instanceof Place ? parameters[value.name] : value));
  const atOnce = (db: Kysely<Tables>, parameters: P) => {
    const { adapter } = db.getExecutor();
    if (!isDirect(adapter)) return undefined;
    const compiled = compiledOn(db, adapter);
    return adapter.run<R>(compiled.sql, valuesOf(compiled, parameters));
  };
  const run = async (db: Kysely<Tables>, parameters: P) => {
    const rows = atOnce(db, parameters);
    if (rows !== undefined) return rows as R[];
    const compiled = compiledOn(db, db.getExecutor().adapter);
    return (await runCompiled(db, compiled, valuesOf(compiled, parameters))) as R[];
  };
  return Object.assign(run, { atOnce });
}
