import type { RankedRow } from '../directory/first-rows.ts';
import type { Groups } from '../directory/groups.ts';
import type { Query } from '../directory/query.ts';
import {
  queryTypes,
  type TypedRow,
  type TypedSelection,
  type TypePage,
  type TypeQuery,
} from '../directory/query-types.ts';
import { groupView, userView } from '../directory/resource-view.ts';
import type { Selection } from '../directory/select-rows.ts';
import type { Users } from '../directory/users.ts';
import { DomainError } from '../errors.ts';
import type { Projection } from '../resource/project.ts';
import type { ResourceType } from '../resource/schema.ts';
import { list, projectionFor, shown } from './answer.ts';
import type { ScimCall } from './call.ts';
import type { Cursors } from './cursors.ts';
import type { ListParameters } from './list-parameters.ts';
import { countOf, criteriaOf, isDescending, isSorted, requireOnePlace } from './list-query.ts';

/** Answers a request for a list: which resources, in what order, and how much of each. */
export type AnswerList = (request: Request, call: ScimCall, parameters: ListParameters) => Promise<Response>;

export interface ListAnswers {
  readonly users: AnswerList;
  readonly groups: AnswerList;
  /** Both, as one list. */
  readonly all: AnswerList;
}

/** What is listed of one type of resource. */
interface Listed {
  resourceType(call: ScimCall): ResourceType;
  readonly onlyWhenNamed: readonly string[];
  rows(call: ScimCall, query: Query): Promise<Selection>;
  /** How many of these resources, at least one, a page can hold. */
  fitting(call: ScimCall, ids: readonly number[], projection: Projection): Promise<number>;
  /** JSON text of each of them that is still there. */
  show(call: ScimCall, ids: readonly number[], projection: Projection): Promise<Map<number, string>>;
}

export interface ListParts {
  readonly people: Users;
  readonly groups: Groups;
  readonly cursors: Cursors;
}

export function listAnswers({ people, groups, cursors }: ListParts): ListAnswers {
  const users = usersListed(people);
  const groupsOfAll = groupsListed(groups);
  return {
    users: answerFrom([users], 'Users', cursors),
    groups: answerFrom([groupsOfAll], 'Groups', cursors),
    all: answerFrom([users, groupsOfAll], 'all', cursors),
  };
}

function usersListed(people: Users): Listed {
  return {
    resourceType: (call) => call.context.configuration.userType,
    onlyWhenNamed: [],
    rows: (call, query) => people.queryRows(call.context, query),
    fitting: async (_call, ids) => ids.length,
    async show(call, ids, projection) {
      if (projection.isDefault) {
        const texts = await people.loadTexts(call.context, call.link, ids);
        return new Map(texts.map(({ id, text }) => [id, text]));
      }
      const { configuration } = call.context;
      const { userType } = configuration;
      const found = await people.load(call.context, ids);
      return new Map(
        found.map((user) => {
          const view = shown(userType, userView(user, configuration, call.link), projection);
          return [user.id, JSON.stringify(view)];
        }),
      );
    },
  };
}

/** Members in one page; a larger group is a page of its own. */
const membersInPageMax = 100_000;

function groupsListed(directory: Groups): Listed {
  return {
    resourceType: (call) => call.context.configuration.groupType,
    onlyWhenNamed: ['members'],
    rows: (call, query) => directory.queryRows(call.context, query),
    async fitting(_call, ids, projection) {
      if (!projection.shows('members')) return ids.length;
      let members = 0;
      for (const [index, id] of ids.entries()) {
        members += await directory.countMembers(id);
        if (members > membersInPageMax) return Math.max(1, index);
      }
      return ids.length;
    },
    async show(call, ids, projection) {
      const { configuration } = call.context;
      const { groupType } = configuration;
      const texts = new Map<number, string>();
      // One after the other, so that no more than one list of members is held twice.
      for (const group of await directory.load(call.context, ids)) {
        const members = projection.shows('members')
          ? await directory.members(call.context, group.id)
          : undefined;
        const view = groupView({ ...group, members }, configuration, call.link);
        texts.set(group.id, JSON.stringify(shown(groupType, view, projection)));
      }
      return texts;
    },
  };
}

function answerFrom(types: readonly Listed[], endpoint: string, cursors: Cursors): AnswerList {
  return async (request, call, parameters) => {
    requireOnePlace(parameters);
    const projections = types.map((type) =>
      projectionFor(type.resourceType(call), parameters, type.onlyWhenNamed),
    );
    const count = countOf(call.context.configuration.settings, parameters);
    const isCursor = parameters.cursor !== undefined;
    const after =
      parameters.cursor === undefined || parameters.cursor === ''
        ? undefined
        : cursors.open(call, endpoint, parameters, count);
    const page = {
      count,
      startIndex: Math.max(1, parameters.startIndex ?? 1),
      ...(isCursor ? { cursor: after === undefined ? {} : { after } } : {}),
      isSorted: isSorted(parameters),
      isDescending: isDescending(parameters),
    };
    const found = await queryTypes(typeQueries(types, call, parameters), page);
    const { rows, next, totalResults } = await fitted(types, call, { found, projections, isCursor });
    const resources = await show(types, call, { rows, projections });
    const nextCursor = next && cursors.seal(call, endpoint, parameters, { row: next, count });
    return list(request, {
      totalResults,
      startIndex: isCursor ? undefined : page.startIndex,
      nextCursor,
      resources,
    });
  };
}

/** What does not exist in one of several types matches nothing there; it is an error where no type has it. */
function typeQueries(types: readonly Listed[], call: ScimCall, parameters: ListParameters): TypeQuery[] {
  const criteria = types.map((type) => attempt(() => criteriaOf(call, type.resourceType(call), parameters)));
  return types.map((type, index) => {
    const found = criteria[index];
    if (found === undefined) return undefined;
    if (found.value !== undefined) return withPage(type, call, found.value);
    if (criteria.every((each) => each.value === undefined)) throw found.error;
    return unsortedQuery(type, call, parameters);
  });
}

/** Of a type that has not what the list is sorted by, but may match: none of its resources has a value. */
function unsortedQuery(type: Listed, call: ScimCall, parameters: ListParameters): TypeQuery {
  const byId = { ...parameters, sortBy: 'id' };
  const criteria = attempt(() => criteriaOf(call, type.resourceType(call), byId)).value;
  if (criteria === undefined) return undefined;
  const query = withPage(type, call, criteria);
  return async ({ cursor, ...page }) => {
    const after = cursor?.after;
    const hasPassed = after !== undefined && after.key !== null && isDescending(parameters);
    if (hasPassed) return { totalResults: undefined, rows: [], next: undefined };
    const place = after === undefined || after.key !== null ? {} : { after: { id: after.id, key: after.id } };
    const found = await query({ ...page, ...(cursor === undefined ? {} : { cursor: place }) });
    return { ...found, rows: found.rows.map(withoutKey), next: found.next && withoutKey(found.next) };
  };
}

function withoutKey({ id }: RankedRow): RankedRow {
  return { id, key: null };
}

function withPage(type: Listed, call: ScimCall, criteria: Pick<Query, 'filter' | 'sort'>) {
  return (page: TypePage) => type.rows(call, { ...criteria, ...page });
}

type Attempt<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: DomainError };

function attempt<T>(read: () => T): Attempt<T> {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof DomainError) return { error };
    throw error;
  }
}

interface Found {
  readonly found: TypedSelection;
  readonly projections: readonly Projection[];
  readonly isCursor: boolean;
}

/** A page behind a cursor may end early; one by startIndex may not, since clients reckon with what they asked for. */
async function fitted(
  types: readonly Listed[],
  call: ScimCall,
  { found, projections, isCursor }: Found,
): Promise<TypedSelection> {
  for (const [index, type] of types.entries()) {
    const mine = found.rows.filter((row) => row.type === index);
    const fitting = await type.fitting(
      call,
      mine.map((row) => row.id),
      projections[index] as Projection,
    );
    const first = mine[fitting];
    if (first === undefined) continue;
    if (!isCursor) {
      const detail = `The page would show more than ${membersInPageMax} members; ask for fewer groups by count, or follow a cursor.`;
      throw new DomainError('tooMany', detail);
    }
    const rows = found.rows.slice(0, found.rows.indexOf(first));
    return { ...found, rows, next: rows.at(-1) };
  }
  return found;
}

async function show(
  types: readonly Listed[],
  call: ScimCall,
  { rows, projections }: { readonly rows: readonly TypedRow[]; readonly projections: readonly Projection[] },
): Promise<string[]> {
  const texts: Map<number, string>[] = [];
  for (const [index, type] of types.entries()) {
    const ids = rows.filter((row) => row.type === index).map((row) => row.id);
    texts.push(await type.show(call, ids, projections[index] as Projection));
  }
  return rows.flatMap((row) => {
    return texts[row.type]?.get(row.id) ?? [];
  });
}
