import type { Command } from 'commander';
import { systemClock, timestamp } from '../clock.ts';
import { machineContext } from '../directory/context.ts';
import { userView } from '../directory/resource-view.ts';
import type { User } from '../directory/user.ts';
import { DomainError } from '../errors.ts';
import type { ResolvedFilter } from '../resource/filter-resolve.ts';
import { withSchemas } from '../resource/normalise.ts';
import { toId } from '../resource/resource-id.ts';
import { isArray, isObject } from '../resource/value.ts';
import type { Configuration } from '../settings/configuration.ts';
import { baseUrl } from './address.ts';
import { type Answer, addressOptions, answering, type Call, type Exit } from './command.ts';
import { registerHistory } from './history.ts';
import type { Services } from './services.ts';
import { formatFacts, formatTable } from './table.ts';

const foundMax = 50;
const queryCharactersMax = 200;

export function registerUser(program: Command, exit: Exit): void {
  const group = program.command('user').description('people in the directory');
  answering(
    group
      .command('find')
      .description('find people whose username, name or email address contains a text')
      .argument('<QUERY>', 'the text, or an id')
      .option('--archived', 'only people who are archived; without it they come after all others'),
    exit,
    { settings: addressOptions, action: find },
  );
  answering(
    group.command('show').description('show one person, archived ones too').argument('<ID>', "the user's id"),
    exit,
    { settings: addressOptions, action: show },
  );
  registerHistory(group, exit, 'User');
}

async function find(call: Call): Promise<Answer> {
  const text = (call.args[0] ?? '').trim();
  if (text === '' || text.length > queryCharactersMax) {
    throw new DomainError('invalidValue', `Search for a text of 1 to ${queryCharactersMax} characters.`);
  }
  const { openForCommand } = await import('./services.ts');
  await using services = await openForCommand(call.config);
  const configuration = await services.configurations.current();
  const { resources, totalResults } = await query(services, configuration, {
    text,
    isLiving: call.options.archived !== true,
  });
  const rows = resources.map((user) => [
    String(user.id),
    user.state,
    String(user.resource.userName),
    nameOf(user),
    emailOf(user),
  ]);
  const users = resources.map((user) => userValue(call, user, configuration));
  const value = { totalResults, users };
  if (rows.length === 0) return { value, text: 'Nobody was found.' };
  const more = totalResults > rows.length ? `\n… and ${totalResults - rows.length} more.` : '';
  return { value, text: formatTable(['ID', 'STATE', 'USERNAME', 'NAME', 'EMAIL'], rows) + more };
}

interface Question {
  readonly text: string;
  /** Whether people who are not archived are asked for as well. */
  readonly isLiving: boolean;
}

interface Found {
  readonly resources: readonly User[];
  readonly totalResults: number;
}

const nobodyFound: Found = { resources: [], totalResults: 0 };

async function query(
  { database }: Services,
  configuration: Configuration,
  { text, isLiving }: Question,
): Promise<Found> {
  const { findArchived } = await import('../directory/archived-store.ts');
  const { filterScope, userFilterSql } = await import('../directory/filter-sql.ts');
  const { queryList } = await import('../directory/query.ts');
  const { userListing } = await import('../directory/user-listing.ts');
  const { selectUsers } = await import('../directory/user-store.ts');
  const context = machineContext(configuration, { kind: 'system', id: null }, timestamp(systemClock));
  const filter = await filterOf(configuration, text);
  const page = { filter, startIndex: 1, count: foundMax };
  const living = isLiving ? await queryList(database, context, page, userListing) : nobodyFound;
  const { resources, totalResults = resources.length } = living;
  const { condition } = userFilterSql(filter, filterScope(database.dialect, context));
  const archived = await findArchived(database.read, condition, foundMax - resources.length);
  return {
    resources: [...resources, ...(await selectUsers(database.read, archived.ids, null))],
    totalResults: totalResults + archived.total,
  };
}

async function filterOf(configuration: Configuration, text: string): Promise<ResolvedFilter> {
  const { resolveFilter } = await import('../resource/filter-resolve.ts');
  const { parseFilter } = await import('../resource/filter.ts');
  const literal = JSON.stringify(text);
  const terms = ['userName', 'displayName', 'name.familyName', 'emails.value'].map(
    (path) => `${path} co ${literal}`,
  );
  if (toId(text) > 0) terms.push(`id eq ${literal}`);
  return resolveFilter(configuration.userType, parseFilter(terms.join(' or ')));
}

async function show(call: Call): Promise<Answer> {
  const id = call.args[0] ?? '';
  const { openForCommand } = await import('./services.ts');
  const { selectUsers } = await import('../directory/user-store.ts');
  await using services = await openForCommand(call.config);
  const number = toId(id);
  const [user] = number > 0 ? await selectUsers(services.database.read, [number], null) : [];
  if (user === undefined) {
    throw new DomainError(
      'notFound',
      `There is no user with the id "${id}"; "rollcall user find" looks by name.`,
    );
  }
  const owner = (await services.sources.list()).find((source) => source.id === user.ownerSourceId);
  const configuration = await services.configurations.current();
  return { value: userValue(call, user, configuration), text: formatFacts(facts(user, owner?.name ?? '')) };
}

function facts(user: User, owner: string): [string, string][] {
  return [
    ['id', String(user.id)],
    ['state', user.state],
    ['userName', String(user.resource.userName)],
    ['name', nameOf(user)],
    ['email', emailOf(user)],
    ['manager', user.manager === undefined ? '' : `${user.manager.displayName} (${user.manager.id})`],
    ['groups', user.groups.map((group) => `${group.displayName} (${group.groupType})`).join(', ')],
    ['owner', owner],
    ['created', user.created],
    ['modified', user.modified],
  ];
}

function userValue(call: Call, user: User, configuration: Configuration) {
  const { state, ownerSourceId, doNotSynchronise } = user;
  const base = `${baseUrl(call)}/api/v2/scim/v2`;
  const view = userView(user, configuration, (type, id) => `${base}/${type}s/${id}`);
  const resource = withSchemas(configuration.userType, view);
  return { id: user.id, state, ownerSourceId, doNotSynchronise, resource };
}

function nameOf({ resource }: User): string {
  const name = isObject(resource.name) ? resource.name : {};
  const full = [name.givenName, name.familyName].filter((part) => typeof part === 'string').join(' ');
  return typeof resource.displayName === 'string' ? resource.displayName : full;
}

function emailOf({ resource }: User): string {
  const emails = (isArray(resource.emails) ? resource.emails : []).filter(isObject);
  const shown = emails.find((email) => email.primary === true) ?? emails[0];
  return typeof shown?.value === 'string' ? shown.value : '';
}
