import { accessSync, constants, existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { DomainError } from '../errors.ts';
import { ConnectorProcess, type ProcessParts } from './connector-process.ts';
import type { ConnectorForm, ConnectorKind, ConnectorRequest, HostRequest } from './connectors.ts';
import { SecretMask } from './secrets.ts';

export type { ProcessParts } from './connector-process.ts';

/** The hidden command that is the process of a connector in TypeScript. */
export const hostWord = 'connector-host';

const descriptionBytesMax = 4 * 1024 * 1024;
const describeMemoryBytes = 512 * 1024 * 1024;

/** How a process of a kind is started, and what it reads from standard input. */
export interface Start {
  readonly command: readonly string[];
  readonly input: string;
}

export interface StartOptions {
  readonly selfCommand: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly allowedHosts: readonly string[];
  readonly preview?: number | undefined;
}

/** Throws `unavailable` when the command of an executable cannot be found. */
export function startOf(
  { kind, form }: ConnectorKind,
  request: ConnectorRequest,
  options: StartOptions,
): Start {
  const { selfCommand, environment, allowedHosts, preview } = options;
  if (form.form === 'executable') {
    return { command: executableCommand(form, environment), input: JSON.stringify(request) };
  }
  const connector = form.form === 'shipped' ? { kind } : { file: form.file };
  const shown = preview === undefined ? {} : { preview };
  return hostStart(selfCommand, { ...request, ...shown, connector, allowedHosts });
}

function hostStart(selfCommand: readonly string[], request: HostRequest): Start {
  return { command: [...selfCommand, hostWord], input: JSON.stringify(request) };
}

type Executable = Extract<ConnectorForm, { form: 'executable' }>;

/** Words that name a file of the connector's folder stand for that file: the process works in another folder. */
function executableCommand(
  { folder, command }: Executable,
  environment: StartOptions['environment'],
): string[] {
  const [program = '', ...words] = command.map((word) => inFolder(folder, word));
  const found = isAbsolute(program) ? program : Bun.which(program, { PATH: environment.PATH ?? '' });
  if (found === null || !existsSync(found)) {
    const where = isAbsolute(program) ? 'there is no such file' : 'it is neither in its folder nor in PATH';
    throw new DomainError(
      'unavailable',
      `The connector's command ${command[0]} cannot be started: ${where}.`,
    );
  }
  requireExecutable(found);
  return [found, ...words];
}

function inFolder(folder: string, word: string): string {
  if (word.startsWith('-') || isAbsolute(word)) return word;
  const path = join(folder, word);
  return word !== '' && existsSync(path) ? path : word;
}

function requireExecutable(path: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch (cause) {
    throw new DomainError('unavailable', `${path} is not executable; "chmod +x" makes it so.`, { cause });
  }
}

/** What the connector in a file says of itself. Throws a sentence when it cannot be loaded. */
export async function describeInChild(
  file: string,
  parts: ProcessParts & { readonly timeMs: number },
): Promise<Readonly<Record<string, unknown>>> {
  const limits = { milliseconds: parts.timeMs, memoryBytes: describeMemoryBytes };
  const start = hostStart(parts.selfCommand, { action: 'describe', file });
  await using child = await ConnectorProcess.start(parts, { ...start, limits, mask: new SecretMask([]) });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of child.output()) {
    bytes += chunk.length;
    if (bytes > descriptionBytesMax) throw new Error('It says too much of itself.');
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text === '') throw new Error('It ended the process while it was loaded.');
  const description = JSON.parse(text) as Record<string, unknown>;
  if (typeof description.problem === 'string') throw new Error(description.problem);
  return description;
}
