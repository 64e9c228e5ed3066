import type { Compilable, CompiledQuery, DialectAdapter, Kysely } from 'kysely';
import type { Tables } from './schema.ts';

/** Runs a compiled query and returns its rows. */
type Run = <R>(text: string, parameters: readonly unknown[]) => readonly R[];

/** The adapter of an engine with one connection, which needs no pool: a compiled query goes straight to it. */
export interface DirectAdapter extends DialectAdapter {
  readonly run: Run;
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

/** Stands in a query where the value of a parameter will be. */
class Place {
  constructor(readonly name: string) {}
}

type PlaceOf<P> = <K extends keyof P & string>(name: K) => P[K];

/**
 * A query that is built and compiled once for each engine, then only run with other values: building a query costs
 * ten times what SQLite needs to answer it. `build` names each parameter by `place('name')`.
 */
export function statement<P extends Record<string, unknown>, R>(
  build: (db: Kysely<Tables>, place: PlaceOf<P>) => Compilable<R>,
): (db: Kysely<Tables>, parameters: P) => Promise<R[]> {
  const compiledFor = new WeakMap<object, CompiledQuery<R>>();
  const place = ((name: string) => new Place(name)) as unknown as PlaceOf<P>;
  return async (db, parameters) => {
    const { adapter } = db.getExecutor();
    let compiled = compiledFor.get(adapter);
    if (compiled === undefined) {
      compiled = build(db, place).compile();
      compiledFor.set(adapter, compiled);
    }
    const values = compiled.parameters.map((value) =>
      value instanceof Place ? parameters[value.name] : value,
    );
    // Not by way of `runCompiled`: another promise for each of the statements of a request.
    if (isDirect(adapter)) return adapter.run<R>(compiled.sql, values) as R[];
    return (await runCompiled(db, compiled, values)) as R[];
  };
}
