import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../errors.ts';
import { kindForm, kindLengthMax } from './connectors.ts';

export const languages = ['ts', 'python'] as const;
export type Language = (typeof languages)[number];

/** A file of an example, embedded as text whatever it is: its module would have another type. */
interface ExampleFile {
  readonly name: string;
  readonly load: () => Promise<unknown>;
  readonly isProgram?: boolean;
}

const examples: Readonly<Record<Language, readonly ExampleFile[]>> = {
  ts: [
    {
      name: 'connector.ts',
      load: () => import('../../connectors/examples/typescript/connector.ts', { with: { type: 'text' } }),
    },
    {
      name: 'connector.test.ts',
      load: () =>
        import('../../connectors/examples/typescript/connector.test.ts', { with: { type: 'text' } }),
    },
    {
      name: 'README.md',
      load: () => import('../../connectors/examples/typescript/README.md', { with: { type: 'text' } }),
    },
    { name: 'contract.d.ts', load: () => import('./contract.ts', { with: { type: 'text' } }) },
  ],
  python: [
    {
      name: 'connector.py',
      load: () => import('../../connectors/examples/python/connector.py', { with: { type: 'text' } }),
      isProgram: true,
    },
    {
      name: 'connector.json',
      load: () => import('../../connectors/examples/python/connector.json', { with: { type: 'text' } }),
    },
    {
      name: 'test_connector.py',
      load: () => import('../../connectors/examples/python/test_connector.py', { with: { type: 'text' } }),
    },
    {
      name: 'README.md',
      load: () => import('../../connectors/examples/python/README.md', { with: { type: 'text' } }),
    },
  ],
};

export interface NewConnector {
  readonly kind: string;
  readonly folder: string;
  readonly files: readonly string[];
}

/**
 * Writes a working connector of that name into `connectors/` of a data folder. Throws `invalidValue` for a name that no
 * kind can have, and `conflict` when the folder is there already.
 */
export async function writeNewConnector(
  dataFolder: string,
  name: string,
  language: Language,
): Promise<NewConnector> {
  if (!kindForm.test(name) || name.length > kindLengthMax) {
    const detail = `A connector is named by small letters, digits and hyphens, at most ${kindLengthMax}, not "${name}".`;
    throw new DomainError('invalidValue', detail);
  }
  const folder = join(dataFolder, 'connectors', name);
  if (existsSync(folder))
    throw new DomainError('conflict', `${folder} is there already; choose another name.`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    for (const file of examples[language]) await writeExample(folder, name, file);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return { kind: name, folder, files: examples[language].map((file) => file.name) };
}

/** The example bears its own name, and its contract lies elsewhere in the source tree. */
async function writeExample(
  folder: string,
  kind: string,
  { name, load, isProgram }: ExampleFile,
): Promise<void> {
  const { default: text } = (await load()) as { default: string };
  const named = text
    .replaceAll('../../../src/connectors/contract.ts', './contract.d.ts')
    .replace(/\b(kind'?"?: ['"])example\b/, `$1${kind}`)
    .replaceAll(/\b(connector (?:test|run)|The connector) example\b/g, `$1 ${kind}`);
  const path = join(folder, name);
  await writeFile(path, named, { mode: 0o600, flag: 'wx' });
  if (isProgram === true) await chmod(path, 0o700);
}
