import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import type { Tables } from './schema.ts';

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
    const engine = db.getExecutor().adapter;
    let compiled = compiledFor.get(engine);
    if (compiled === undefined) {
      compiled = build(db, place).compile();
      compiledFor.set(engine, compiled);
    }
    const values = compiled.parameters.map((value) =>
      value instanceof Place ? parameters[value.name] : value,
    );
    const result = await db.executeQuery<R>({ ...compiled, parameters: values });
    return result.rows;
  };
}
