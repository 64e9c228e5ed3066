import { dirname, resolve } from 'node:path';
import { readVariable } from '../config/env.ts';
import { checkConfig } from '../connectors/config-check.ts';
import type { Config, ConnectorKind } from '../connectors/connectors.ts';
import { mapSecrets } from '../connectors/secrets.ts';
import { DomainError } from '../errors.ts';

const configBytesMax = 4 * 1024 * 1024;
const secretBytesMax = 64 * 1024;

/**
 * The configuration in a JSON file, or on standard input for `-`, complete and checked. A secret may stand elsewhere:
 * `{"env": "NAME"}` takes it from a variable, `{"file": "path"}` from a file beside the configuration.
 */
export async function readConnectorConfig({ configSchema }: ConnectorKind, path: string): Promise<Config> {
  const isInput = path === '-';
  const what = isInput ? 'Standard input' : `The file ${path}`;
  const text = isInput ? await readInput() : await readBounded(path, configBytesMax);
  const given = parse(text, what);
  const folder = isInput ? process.cwd() : dirname(resolve(path));
  const places = new Map<string, Reference>();
  mapSecrets(configSchema, given, (value, place) => {
    const reference = referenceOf(value);
    if (reference !== undefined) places.set(place, reference);
    return value;
  });
  const secrets = new Map<string, string>();
  for (const [place, reference] of places) secrets.set(place, await readSecret(reference, place, folder));
  const whole = mapSecrets(configSchema, given, (value, place) => secrets.get(place) ?? value);
  return checkConfig(configSchema, whole);
}

async function readInput(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of Bun.stdin.stream()) {
    bytes += chunk.length;
    if (bytes > configBytesMax) throw tooLong('Standard input', configBytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function readBounded(path: string, bytesMax: number): Promise<string> {
  const file = Bun.file(path);
  try {
    // A pipe has no size; what it brings is bounded by reading one byte more than is allowed.
    const text = await new Response(file.slice(0, bytesMax + 1)).text();
    if (text.length > bytesMax) throw tooLong(`The file ${path}`, bytesMax);
    return text;
  } catch (error) {
    if (error instanceof DomainError) throw error;
    const { code } = error as { code?: string };
    const reason = code === 'ENOENT' ? 'there is none' : (code ?? 'it is not a file');
    throw new DomainError('notFound', `The file ${path} cannot be read: ${reason}.`, { cause: error });
  }
}

function tooLong(what: string, bytesMax: number): DomainError {
  return new DomainError('invalidValue', `${what} is longer than ${bytesMax.toLocaleString('en')} bytes.`);
}

/** The message of the parser quotes what it stumbled over, which may be a secret. */
function parse(text: string, what: string): Config {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Config;
  } catch (cause) {
    throw new DomainError('invalidValue', `${what} is not JSON.`, { cause });
  }
  throw new DomainError('invalidValue', `${what} must be a JSON object.`);
}

type Reference = { readonly env: string } | { readonly file: string };

function referenceOf(value: unknown): Reference | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const [[name, text] = [], ...others] = Object.entries(value);
  if (others.length > 0 || typeof text !== 'string') return undefined;
  if (name === 'env') return { env: text };
  return name === 'file' ? { file: text } : undefined;
}

/** A file ends with a line feed that is no part of the secret. */
async function readSecret(reference: Reference, place: string, folder: string): Promise<string> {
  if ('file' in reference) {
    const text = await readBounded(resolve(folder, reference.file), secretBytesMax);
    return text.replace(/\r?\n$/, '');
  }
  const value = readVariable(reference.env);
  if (value !== undefined) return value;
  throw new DomainError(
    'invalidValue',
    `"${place}" is to come from the variable ${reference.env}, which is not set.`,
  );
}
