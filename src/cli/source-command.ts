import type { Command } from 'commander';
import { DomainError } from '../errors.ts';
import type { Source } from '../sources/source-store.ts';
import { baseUrl } from './address.ts';
import {
  type Answer,
  addressOptions,
  answering,
  type Call,
  type Exit,
  readAssignments,
  readNumber,
} from './command.ts';
import type { Services } from './services.ts';
import { formatFacts, formatTable } from './table.ts';
import { whoCommands } from './who-commands.ts';

const releaseMinutesDefault = 60;
const releaseMinutesMax = 7 * 24 * 60;

export function registerSource(program: Command, exit: Exit): void {
  const group = program
    .command('source')
    .description('profile sources: who may bring data, with which token');
  answering(
    group
      .command('create')
      .description('make an active source and print its token')
      .requiredOption('--kind <KIND>', 'scim or general')
      .requiredOption('--name <NAME>', 'name, unique among the sources')
      .option('--set <key=value...>', 'settings of the source'),
    exit,
    { settings: addressOptions, action: create },
  );
  answering(group.command('list').description('list the sources'), exit, {
    settings: addressOptions,
    action: list,
  });
  answering(named(group, 'show', 'show one source, what it has ended, and whether it is held'), exit, {
    settings: addressOptions,
    action: show,
  });
  answering(
    named(group, 'release', 'let a source go on that the brake holds').option(
      '--minutes <N>',
      `minutes for which it may end any number (default: ${releaseMinutesDefault})`,
    ),
    exit,
    { action: release },
  );
  answering(named(group, 'set', 'change settings').argument('<key=value...>', 'settings'), exit, {
    settings: addressOptions,
    action: set,
  });
  answering(
    named(group, 'token', 'print the token in force')
      .option('--rotate', 'issue another token; the former ones end')
      .option(
        '--overlap-days <N>',
        'with --rotate: days for which the former tokens stay in force (default: 0)',
      ),
    exit,
    { settings: addressOptions, action: token },
  );
  answering(named(group, 'activate', 'let the source send again'), exit, {
    settings: addressOptions,
    action: (call) => setActive(call, true),
  });
  answering(named(group, 'deactivate', 'refuse what the source sends'), exit, {
    settings: addressOptions,
    action: (call) => setActive(call, false),
  });
}

function named(group: Command, command: string, description: string): Command {
  return group.command(command).description(description).argument('<NAME>', "the source's name or id");
}

async function open({ config }: Call, create = false) {
  const { openForCommand } = await import('./services.ts');
  return openForCommand(config, { create });
}

async function create(call: Call): Promise<Answer> {
  const { kind, name, set: assignments = [] } = call.options;
  if (kind !== 'scim' && kind !== 'general') {
    throw new DomainError('invalidValue', `The kind of a source is scim or general, not "${kind}".`);
  }
  const settings = readAssignments(assignments);
  await using services = await open(call, true);
  const created = await services.sources.create(kind, name, { settings, by: whoCommands() });
  return answerWith(call, created.source, created.token);
}

async function list(call: Call): Promise<Answer> {
  await using services = await open(call);
  const sources = await services.sources.list();
  const brakes = await brakesOf(services);
  const rows = sources.map((source) => [
    String(source.id),
    source.kind,
    stateOf(source, brakes),
    source.name,
    Object.values(addressOf(call, source)).join(''),
  ]);
  return {
    value: {
      sources: sources.map((source) => ({ ...sourceValue(call, source), ...brakeValue(source, brakes) })),
    },
    text:
      rows.length === 0
        ? 'There are no sources yet.'
        : formatTable(['ID', 'KIND', 'ACTIVE', 'NAME', 'ADDRESS'], rows),
  };
}

async function show(call: Call): Promise<Answer> {
  await using services = await open(call);
  const source = await services.sources.get(call.args[0] ?? '');
  const braked = brakeValue(source, await brakesOf(services));
  return {
    value: { ...sourceValue(call, source), ...braked },
    text: formatFacts(factsOf(call, source, braked)),
  };
}

async function release(call: Call): Promise<Answer> {
  const minutes = readNumber(call, 'minutes', { fallback: releaseMinutesDefault, max: releaseMinutesMax });
  const { releaseSource } = await import('../directory/brake-store.ts');
  await using services = await open(call);
  const source = await services.sources.get(call.args[0] ?? '');
  if (source.kind !== 'scim') {
    throw new DomainError(
      'invalidValue',
      `The brake is for SCIM sources; imports of "${source.name}" have a guard.`,
    );
  }
  const until = new Date(services.clock().getTime() + minutes * 60_000).toISOString();
  const heldSince = await services.database.write((tx) => releaseSource(tx, source.id, until));
  const was = heldSince === null ? 'was not held' : `was held since ${heldSince}`;
  return {
    value: {
      id: source.id,
      name: source.name,
      wasHeldSince: heldSince,
      ...brakeValue(source, await brakesOf(services)),
    },
    text: `The source ${was}; until ${until} it may deactivate and delete any number.`,
  };
}

interface Braked {
  readonly heldSince: string | null;
  readonly endedLastHour: number;
  readonly releasedUntil: string | null;
}
type Brakes = ReadonlyMap<number, Braked>;

async function brakesOf({ database, clock }: Services): Promise<Brakes> {
  const { endedWithinHour, isReleased } = await import('../directory/brake.ts');
  const { listBrakes } = await import('../directory/brake-store.ts');
  const now = clock().toISOString();
  const brakes = await listBrakes(database.read);
  return new Map(
    brakes.map((state) => [
      state.sourceId,
      {
        heldSince: isReleased(state, now) ? null : state.heldSince,
        endedLastHour: endedWithinHour(state, now),
        releasedUntil: isReleased(state, now) ? state.releasedUntil : null,
      },
    ]),
  );
}

/** What the brake knows of a SCIM source; nothing of others. */
function brakeValue(source: Source, brakes: Brakes): Partial<Braked> {
  if (source.kind !== 'scim') return {};
  const { heldSince = null, endedLastHour = 0, releasedUntil = null } = brakes.get(source.id) ?? {};
  return { heldSince: source.settings.brakeLimit > 0 ? heldSince : null, endedLastHour, releasedUntil };
}

function stateOf(source: Source, brakes: Brakes): string {
  if (!source.active) return 'no';
  return (brakeValue(source, brakes).heldSince ?? null) === null ? 'yes' : 'held';
}

async function set(call: Call): Promise<Answer> {
  const [nameOrId = '', ...assignments] = call.args;
  const settings = readAssignments(assignments);
  await using services = await open(call);
  return answerWith(call, await services.sources.change(nameOrId, { settings }, whoCommands()));
}

async function setActive(call: Call, active: boolean): Promise<Answer> {
  await using services = await open(call);
  return answerWith(call, await services.sources.change(call.args[0] ?? '', { active }, whoCommands()));
}

async function token(call: Call): Promise<Answer> {
  const overlapDays = readOverlap(call);
  await using services = await open(call);
  const source = await services.sources.get(call.args[0] ?? '');
  const shown =
    call.options.rotate === true
      ? await services.sources.rotateToken(source, overlapDays, whoCommands())
      : await services.sources.revealToken(source, whoCommands());
  return answerWith(call, source, shown);
}

const overlapDaysMax = 365;

function readOverlap({ options: { rotate, overlapDays = '0' } }: Call): number {
  if (rotate !== true && overlapDays !== '0') {
    throw new DomainError('invalidValue', '--overlap-days goes with --rotate.');
  }
  if (/^\d{1,3}$/.test(overlapDays) && Number(overlapDays) <= overlapDaysMax) return Number(overlapDays);
  throw new DomainError(
    'invalidValue',
    `--overlap-days takes a whole number from 0 to ${overlapDaysMax}, not "${overlapDays}".`,
  );
}

function answerWith(call: Call, source: Source, shownToken?: string): Answer {
  const token = shownToken === undefined ? {} : { token: shownToken };
  return {
    value: { ...sourceValue(call, source), token: shownToken },
    text: formatFacts(factsOf(call, source, token)),
  };
}

function factsOf(call: Call, source: Source, more: object): (readonly [name: string, value: string])[] {
  const { settings, created: _created, ...facts } = sourceValue(call, source);
  const all = Object.entries({ ...facts, ...more, ...settings });
  return all.map(([name, value]) => [name, String(value ?? 'no')] as const);
}

function sourceValue(call: Call, source: Source) {
  const { id, kind, name, active, settings, created } = source;
  return { id, kind, name, active, ...addressOf(call, source), settings, created };
}

/** Where the other side sends its data. */
function addressOf(call: Call, { kind, id }: Source): { baseUrl: string } | { uploadPath: string } {
  if (kind === 'scim') return { baseUrl: `${baseUrl(call)}/api/v2/scim/v2` };
  return { uploadPath: `/api/platformsync/${id}/upload` };
}
