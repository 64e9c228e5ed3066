import { existsSync } from 'node:fs';
import type { Config } from '../config/options.ts';
import type { NamedResource, SourceRequest } from '../directory/history-store.ts';
import { DomainError } from '../errors.ts';
import type { ResourceTypeName } from '../storage/schema.ts';
import { dataFolder } from './data-folder.ts';
import type { SourceNames } from './log-text.ts';
import type { Services } from './services.ts';

/** Where the request log is, and what the directory knows to make it readable. */
export interface LogDirectory extends AsyncDisposable {
  readonly path: string;
  readonly names: SourceNames;
  /** The id of a source by its name or id. */
  sourceId(text: string): Promise<number>;
  /** The user or group of this id or name, if there is or was one. */
  named(resourceType: ResourceTypeName, text: string): Promise<NamedResource | undefined>;
  /** The requests that changed the resource, the newest thousand. */
  changesOf(resourceType: ResourceTypeName, id: number): Promise<readonly SourceRequest[]>;
}

/** The log is a file of its own, and asked for most when the database cannot be: then names are missing, and nothing else. */
export async function openLogDirectory(config: Config): Promise<LogDirectory> {
  const { openForCommand } = await import('./services.ts');
  try {
    return await withNames(await openForCommand(config));
  } catch (error) {
    const path = dataFolder(config.data).requests;
    if (!(error instanceof DomainError) || !existsSync(path)) throw error;
    await Bun.write(Bun.stderr, `rollcall: Without names, because: ${error.detail}\n`);
    return withoutNames(path);
  }
}

async function withNames(services: Services): Promise<LogDirectory> {
  const sources = await services.sources.list();
  return {
    path: services.folder.requests,
    names: new Map(sources.map(({ id, name }) => [id, name])),
    sourceId: async (text) => (await services.sources.get(text)).id,
    async named(resourceType, text) {
      const { namedResources } = await import('./named-resource.ts');
      const [found] = await namedResources(services.database.read, resourceType, text);
      return found;
    },
    async changesOf(resourceType, id) {
      const { listChangingRequests } = await import('../directory/history-store.ts');
      return listChangingRequests(services.database.read, resourceType, id);
    },
    [Symbol.asyncDispose]: () => services.close(),
  };
}

function withoutNames(path: string): LogDirectory {
  return {
    path,
    names: new Map(),
    async sourceId(text) {
      if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
      throw new DomainError(
        'unavailable',
        `Without the database a source can only be given by its id, not as "${text}".`,
      );
    },
    named: async () => undefined,
    changesOf: async () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };
}
