import { existsSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { requireSchema } from './config-check.ts';
import {
  type ConfigSchema,
  type ConnectorKind,
  describeMsMax,
  kindForm,
  kindLengthMax,
} from './connectors.ts';
import { describeInChild, type ProcessParts } from './host-command.ts';

const foldersMax = 200;
const describedAtOnce = 2;
const manifestBytesMax = 1024 * 1024;
const summaryLengthMax = 200;
const wordsMax = 100;

/** What one folder holds: a connector, or else a sentence that says why not. */
export interface FolderConnector {
  readonly name: string;
  readonly found: ConnectorKind | string;
}

/** The connectors in the folders of `folder`, by name. One in TypeScript is loaded in a process of its own. */
export async function readFolderConnectors(folder: string, parts: ProcessParts): Promise<FolderConnector[]> {
  const names = await folderNames(folder);
  const read: FolderConnector[] = [];
  const waiting = names.slice(0, foldersMax).values();
  const work = async () => {
    for (const name of waiting) read.push({ name, found: await readFolder(join(folder, name), parts) });
  };
  await Promise.all(Array.from({ length: describedAtOnce }, work));
  const others = names
    .slice(foldersMax)
    .map((name) => ({ name, found: `Only ${foldersMax} are looked at.` }));
  return [...read, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Folders whose names begin with a dot are somebody else's. */
async function folderNames(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  const isFolder = (entry: (typeof entries)[number]) => entry.isDirectory() || entry.isSymbolicLink();
  return entries
    .filter((entry) => isFolder(entry) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}

async function readFolder(folder: string, parts: ProcessParts): Promise<ConnectorKind | string> {
  const [file, manifest] = [join(folder, 'connector.ts'), join(folder, 'connector.json')];
  try {
    if (existsSync(file) && existsSync(manifest))
      return 'It holds both connector.ts and connector.json; keep one of them.';
    if (existsSync(file)) return await readTypeScript(folder, file, parts);
    if (existsSync(manifest)) return await readManifest(folder, manifest);
    return 'It holds neither connector.ts nor connector.json.';
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return /[.!?]$/.test(problem) ? problem : `${problem}.`;
  }
}

async function readTypeScript(folder: string, file: string, parts: ProcessParts): Promise<ConnectorKind> {
  const described = await describeInChild(file, { ...parts, timeMs: describeMsMax });
  return { ...toKind(described, 'The connector'), form: { form: 'typescript', folder, file } };
}

async function readManifest(folder: string, file: string): Promise<ConnectorKind> {
  const manifest = parseManifest(await readBounded(file));
  const { command } = manifest;
  const isCommand =
    Array.isArray(command) &&
    command.length > 0 &&
    command.length <= wordsMax &&
    command.every((word) => typeof word === 'string' && !word.includes('\0'));
  if (!isCommand || command[0] === '')
    throw new Error('connector.json needs "command", an array of texts: ["./connector.py"], for example.');
  const words = command as string[];
  return { ...toKind(manifest, 'connector.json'), form: { form: 'executable', folder, command: words } };
}

async function readBounded(file: string): Promise<string> {
  const handle = await open(file);
  try {
    if ((await handle.stat()).size > manifestBytesMax)
      throw new Error(`connector.json is larger than ${manifestBytesMax} bytes.`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

function parseManifest(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`connector.json is not JSON: ${(error as Error).message}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new Error('connector.json is not a JSON object.');
}

/** Checks what a connector says of itself; `what` begins the sentences. */
function toKind(said: Readonly<Record<string, unknown>>, what: string): Omit<ConnectorKind, 'form'> {
  const { kind, summary, configSchema, canDelta = false } = said;
  if (typeof kind !== 'string' || !kindForm.test(kind) || kind.length > kindLengthMax)
    throw new Error(`${what} needs "kind", a name of small letters, digits and hyphens.`);
  if (typeof summary !== 'string' || summary === '' || summary.length > summaryLengthMax)
    throw new Error(`${what} needs "summary", a sentence of at most ${summaryLengthMax} characters.`);
  if (typeof canDelta !== 'boolean') throw new Error(`${what} says neither true nor false of "canDelta".`);
  requireSchema(configSchema);
  return { kind, summary, configSchema: configSchema as ConfigSchema, canDelta };
}
