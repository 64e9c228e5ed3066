import type { Command } from 'commander';
import type { HistoryEntry } from '../directory/history-store.ts';
import { DomainError } from '../errors.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import type { Reader } from '../storage/database.ts';
import type { ResourceTypeName } from '../storage/schema.ts';
import { type Answer, answering, type Call, type Exit, readNumber } from './command.ts';
import { plain } from './table.ts';

const limitDefault = 50;
const limitMax = 1_000;
const valueCharactersMax = 300;
const othersMax = 20;

/** Adds `history` to the commands about users or groups. */
export function registerHistory(group: Command, exit: Exit, resourceType: ResourceTypeName): void {
  const name = resourceType === 'User' ? 'userName' : 'displayName';
  answering(
    group
      .command('history')
      .description('tell every change, by whom, and what it was before and after')
      .argument('<ID>', `the id or ${name}, also of one who is gone`)
      .option('--limit <N>', `changes at most (default: ${limitDefault})`)
      .option('--before <SEQ>', 'only changes before this one: "next" of the page before'),
    exit,
    { action: (call) => history(call, resourceType) },
  );
}

async function history(call: Call, resourceType: ResourceTypeName): Promise<Answer> {
  const { openForCommand } = await import('./services.ts');
  const { listHistory } = await import('../directory/history-store.ts');
  const { namedResources } = await import('./named-resource.ts');
  const limit = readNumber(call, 'limit', { fallback: limitDefault, max: limitMax });
  const before = readNumber(call, 'before', {
    fallback: Number.MAX_SAFE_INTEGER,
    max: Number.MAX_SAFE_INTEGER,
  });
  const [text = ''] = call.args;
  await using services = await openForCommand(call.config);
  const { read } = services.database;
  const [found, ...others] = await namedResources(read, resourceType, text);
  if (found === undefined) throw nobody(resourceType, text);
  const { id, name, state } = found;
  const { changes, next } = await listHistory(read, { resourceType, resourceId: id, limit, before });
  const also =
    others.length === 0 ? [] : [`Others had this name: ${others.map((each) => each.id).join(', ')}.`];
  const older = next === undefined ? [] : [`Older changes: --before ${next}.`];
  const seeAlso = resourceType === 'User' ? await namesOfOthers(read, id) : [];
  const see = seeAlso.map((each) => `${each.resourceType.toLowerCase()} history ${each.id} (${each.name})`);
  const elsewhere = see.length === 0 ? [] : ['', `What groups and managers are called: ${see.join(', ')}.`];
  const lines = [
    `${resourceType} ${id}, ${name}, ${state}`,
    ...changes.flatMap(linesOf),
    ...older,
    ...also,
    ...elsewhere,
  ];
  return {
    value: {
      resourceType,
      id,
      name,
      state,
      changes,
      next: next ?? null,
      others: others.map((each) => each.id),
      ...(resourceType === 'User' ? { seeAlso } : {}),
    },
    text: lines.map(plain).join('\n'),
  };
}

interface Other {
  readonly resourceType: ResourceTypeName;
  readonly id: number;
  readonly name: string;
}

/** Whose names the person shows: that they are called otherwise is no change of the person, and stands with them. */
async function namesOfOthers(read: Reader, id: number): Promise<Other[]> {
  const { selectUsers } = await import('../directory/user-store.ts');
  const [user] = await selectUsers(read, [id], null);
  const groups = (user?.groups ?? []).slice(0, othersMax);
  const manager = user?.manager;
  return [
    ...groups.map((group): Other => ({ resourceType: 'Group', id: group.id, name: group.displayName })),
    ...(manager === undefined
      ? []
      : [{ resourceType: 'User' as const, id: manager.id, name: manager.displayName }]),
  ];
}

function nobody(resourceType: ResourceTypeName, text: string): DomainError {
  const what = resourceType === 'User' ? 'user with the id or userName' : 'group with the id or displayName';
  return new DomainError('notFound', `There is no ${what} "${text}", and there was none.`);
}

function linesOf({ time, action, actor, requestId, importId, before, after }: HistoryEntry): string[] {
  const who = whoIs(actor);
  const origin =
    importId !== null ? `import run ${importId}` : requestId === null ? '' : `request ${requestId}`;
  const head = [time, action, `by ${who}`, origin].filter((part) => part !== '').join('  ');
  return ['', head, ...differences(before ?? {}, after ?? {}).map((line) => `  ${line}`)];
}

/** Whoever runs a command owns the data folder; no account is known of them. */
function whoIs({ kind, name, id }: HistoryEntry['actor']): string {
  if (kind === 'system') return 'the system';
  if (kind === 'administrator' && id === null) return 'an administrator at the command line';
  return `${kind} ${name ?? id}`;
}

/** `name: before → after` for each attribute; those of an extension by their own names. */
function differences(before: ScimObject, after: ScimObject, prefix = ''): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const [a, b] = [before[name], after[name]];
    // An empty list that goes is no change that anybody could see.
    if (isEmpty(a) && isEmpty(b)) return [];
    if (name.startsWith('urn:') && (isObject(a) || isObject(b))) {
      const short = name.split(':').slice(-3, -2).join('') || name;
      return differences(isObject(a) ? a : {}, isObject(b) ? b : {}, `${short}.`);
    }
    return [`${prefix}${name}: ${change(a, b)}`];
  });
}

function isEmpty(value: ScimValue | undefined): boolean {
  return value === undefined || (isArray(value) && value.length === 0);
}

function change(before: ScimValue | undefined, after: ScimValue | undefined): string {
  if (before === undefined) return shown(after);
  return `${shown(before)} → ${after === undefined ? 'nothing' : shown(after)}`;
}

function shown(value: ScimValue | undefined): string {
  if (isArray(value) && value.length === 0) return 'none';
  const isList = isArray(value) && value.every((each) => typeof each === 'string');
  const text = isList ? `${value.length} (${value.join(', ')})` : JSON.stringify(value ?? null);
  return text.length > valueCharactersMax ? `${text.slice(0, valueCharactersMax)}…` : text;
}
