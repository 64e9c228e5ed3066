import { type SqlBool, sql } from 'kysely';
import { instantMark, shownNameMember } from '../resource/folded-document.ts';
import { type AttributeDefinition, additionalFieldsUrn } from '../resource/schema.ts';
import type { Dialect } from '../storage/database.ts';
import { type Condition, complex, noValue, type Place, rows, type Sql, single } from './filter-sql-place.ts';
import {
  booleanValue,
  byCodePoint,
  instantValue,
  lowerCase,
  numberValue,
  textValue,
} from './filter-sql-value.ts';

/** The alias of a row that has `document` and `folded`. */
export type DocumentRow = 'user' | 'group_';

type Steps = readonly string[];

/** A JSON text and its folded counterpart, as expressions for what stands at `steps` below a certain value. */
interface Json {
  readonly dialect: Dialect;
  /** The raw value: a text as it is, anything else as the engine gives it. */
  raw(steps: Steps): Sql;
  /** What `foldDocument` says of it; null where it says nothing. */
  folded(steps: Steps): Sql;
  /** The name of the JSON type, by the engine's own words; null where there is nothing. */
  type(steps: Steps): Sql;
  /** The JSON text of the value. */
  literal(steps: Steps): Sql;
}

/** Where the values of an attribute are that is kept in the document. Its name comes from the schema, never from a client. */
export function documentPlace(attribute: AttributeDefinition, row: DocumentRow, dialect: Dialect): Place {
  const steps = attribute.extension === undefined ? [attribute.name] : [attribute.extension, attribute.name];
  const document = dialect === 'sqlite' ? sqliteDocument(row) : postgresDocument(row);
  if (attribute.multiValued) return listPlace(row, steps, dialect);
  return attribute.type === 'complex'
    ? complex(isThere(document, steps), (part) => single(leaf(part, document, [...steps, part.name])))
    : single(leaf(attribute, document, steps));
}

/** Whether the document has anything of an extension. */
export function hasExtension(urn: string, row: DocumentRow, dialect: Dialect): Condition {
  return isThere(dialect === 'sqlite' ? sqliteDocument(row) : postgresDocument(row), [urn]);
}

/** Whether a person's document has a value of any of these additional fields. */
export function hasAdditionalField(fields: readonly string[], dialect: Dialect): Condition {
  const document = sql.ref('user.document');
  const names = JSON.stringify(fields);
  return dialect === 'sqlite'
    ? sql<SqlBool>`exists (select 1 from json_each(${document}, ${pathOf([additionalFieldsUrn])}) as field
        where field.key in (select value from json_each(${names})))`
    : sql<SqlBool>`exists (select 1 from json_object_keys(cast(${document} as json) -> ${additionalFieldsUrn}) as field
        where field in (select json_array_elements_text(cast(${names} as json))))`;
}

/** The canonical key of the name by which a row of people is shown; `row` is its alias in the query. */
export function shownNameKey(row: string, dialect: Dialect): Sql {
  const folded = sql.ref(`${row}.folded`);
  const key =
    dialect === 'sqlite'
      ? sql`json_extract(${folded}, ${pathOf([shownNameMember])})`
      : sql`(cast(${folded} as json) ->> ${shownNameMember})`;
  return lowerCase(sql`coalesce(${key}, ${sql.ref(`${row}.display_name`)})`, dialect);
}

function isThere(json: Json, steps: Steps): Condition {
  return sql<SqlBool>`${json.type(steps)} is not null`;
}

function leaf(attribute: AttributeDefinition, json: Json, steps: Steps) {
  const { dialect } = json;
  // Whoever configures the additional fields may give a name another type than values were stored under.
  const isLoose = attribute.extension === additionalFieldsUrn;
  const isPresent = isThere(json, steps);
  switch (attribute.type) {
    case 'boolean':
      return { ...booleanValue(boolean(json, steps), { isLoose }), isPresent };
    case 'integer':
    case 'decimal':
      return { ...numberValue(number(json, steps), dialect, { isLoose }), isPresent };
    case 'dateTime':
      return { ...instantValue(instant(json, steps), { isLoose }), isPresent };
    default: {
      const text = attribute.caseExact ? json.raw(steps) : key(json, steps);
      const guarded = isLoose ? sql`(case when ${isText(json, steps)} then ${text} end)` : text;
      return { ...textValue(byCodePoint(guarded, dialect), dialect, { isLoose }), isPresent };
    }
  }
}

function key(json: Json, steps: Steps): Sql {
  return lowerCase(sql`coalesce(${json.folded(steps)}, ${json.raw(steps)})`, json.dialect);
}

function isText(json: Json, steps: Steps): Condition {
  const type = json.type(steps);
  return json.dialect === 'sqlite' ? sql<SqlBool>`${type} = 'text'` : sql<SqlBool>`${type} = 'string'`;
}

function boolean(json: Json, steps: Steps): Sql {
  const token = json.dialect === 'sqlite' ? json.type(steps) : json.literal(steps);
  return sql`(case ${token} when 'true' then 1 when 'false' then 0 end)`;
}

function number(json: Json, steps: Steps): Sql {
  const type = json.type(steps);
  const raw = json.raw(steps);
  return json.dialect === 'sqlite'
    ? sql`(case when ${type} in ('integer', 'real') then ${raw} end)`
    : sql`(case when ${type} = 'number' then cast(${raw} as double precision) end)`;
}

function instant(json: Json, steps: Steps): Sql {
  const marked = [...steps.slice(0, -1), steps.at(-1) + instantMark];
  const found = json.folded(marked);
  return json.dialect === 'sqlite' ? found : sql`cast(${found} as double precision)`;
}

function sqliteDocument(row: DocumentRow): Json {
  const document = sql.ref(`${row}.document`);
  return {
    dialect: 'sqlite',
    raw: (steps) => sql`json_extract(${document}, ${pathOf(steps)})`,
    folded: (steps) => sql`json_extract(${sql.ref(`${row}.folded`)}, ${pathOf(steps)})`,
    type: (steps) => sql`json_type(${document}, ${pathOf(steps)})`,
    literal: (steps) => sql`(${document} -> ${pathOf(steps)})`,
  };
}

/** An element of a list: a row `item` of `json_each`, and its counterpart under the same index. */
function sqliteItem(row: DocumentRow, list: Steps): Json {
  const value = sql.ref('item.value');
  const inFolded = (steps: Steps) =>
    sql`${`${pathOf(list)}[`} || ${sql.ref('item.key')} || ${`]${pathOf(steps).slice(1)}`}`;
  return {
    dialect: 'sqlite',
    raw: (steps) => sql`json_extract(${value}, ${pathOf(steps)})`,
    folded: (steps) => sql`json_extract(${sql.ref(`${row}.folded`)}, ${inFolded(steps)})`,
    type: (steps) => sql`json_type(${value}, ${pathOf(steps)})`,
    literal: (steps) => sql`(${value} -> ${pathOf(steps)})`,
  };
}

function pathOf(steps: Steps): string {
  return `$${steps.map((step) => `.${JSON.stringify(step)}`).join('')}`;
}

function postgresDocument(row: DocumentRow): Json {
  return postgresJson(sql.ref(`${row}.document`), sql.ref(`${row}.folded`));
}

function postgresJson(document: Sql, folded: Sql): Json {
  const at = (json: Sql, steps: Steps) => sql`(cast(${json} as json) #> cast(${steps} as text[]))`;
  const textAt = (json: Sql, steps: Steps) => sql`(cast(${json} as json) #>> cast(${steps} as text[]))`;
  return {
    dialect: 'postgres',
    raw: (steps) => textAt(document, steps),
    folded: (steps) => textAt(folded, steps),
    type: (steps) => sql`json_typeof(${at(document, steps)})`,
    literal: (steps) => sql`cast(${at(document, steps)} as text)`,
  };
}

/** The elements of a list of complex values; one marked primary is the first to sort by. */
function listPlace(row: DocumentRow, steps: Steps, dialect: Dialect): Place {
  const item =
    dialect === 'sqlite'
      ? sqliteItem(row, steps)
      : postgresJson(sql.ref('item.document'), sql.ref('item.folded'));
  const isPrimary = boolean(item, ['primary']);
  const place = dialect === 'sqlite' ? sql.ref('item.key') : sql.ref('item.place');
  return rows({
    from: dialect === 'sqlite' ? sqliteItems(row, steps) : postgresItems(row, steps),
    order: sql`coalesce(${isPrimary}, 0) desc, ${place}`,
    element: { value: noValue, place: (part) => single(leaf(part, item, [part.name])) },
  });
}

function sqliteItems(row: DocumentRow, steps: Steps): Sql {
  return sql`json_each(${sql.ref(`${row}.document`)}, ${pathOf(steps)}) as item`;
}

function postgresItems(row: DocumentRow, steps: Steps): Sql {
  const list = (column: string) => {
    const found = sql`(cast(${sql.ref(`${row}.${column}`)} as json) #> cast(${steps} as text[]))`;
    return sql`json_array_elements(case when json_typeof(${found}) = 'array' then ${found} end)`;
  };
  return sql`rows from (${list('document')}, ${list('folded')}) with ordinality as item(document, folded, place)`;
}
