// The rules of the house that can be read off a file: who may import whom, and where a few words may stand.
// It reads import statements as text, because types-only imports count and a transpiler drops them.

import { describe, expect, test } from 'bun:test';
import { dirname, join, relative } from 'node:path';
import { Glob } from 'bun';

const root = join(import.meta.dir, '..');
const linesMax = 500;
const filesMax = 5_000;

/** Layers from the outside in. A folder may import from the layers after its own. */
const layers: readonly (readonly string[])[] = [
  ['main', 'app', 'openapi', 'cli', 'config'],
  ['scim', 'upload', 'admin', 'http', 'console'],
  ['directory', 'imports', 'sources', 'connectors', 'security', 'settings'],
  ['storage', 'archive', 'requests'],
  ['resource', 'xml', 'pattern'],
  ['errors', 'log', 'events', 'clock'],
];

/** What a folder may import from its own layer. The entry layer is one story and imports freely within itself. */
const sideways: Readonly<Record<string, readonly string[]>> = {
  scim: ['http'],
  upload: ['http'],
  admin: ['http'],
  directory: ['security', 'settings'],
  imports: ['directory', 'sources', 'security', 'settings'],
  connectors: ['imports', 'sources', 'security', 'settings'],
  sources: ['security', 'settings'],
  settings: ['security'],
};

/** What connectors/<kind> may import of src/: their contract, and what their configurations have in common. */
const connectorImports =
  /^src\/(errors|connectors\/(contract|mapping|mapping-schema|mapped-columns|column-path|http-source|http-auth|nested-groups|mapping-defaults|memberships|connection-fault|resolve-host))\.ts$/;

/** A package that only some files may use, and the name of the rule as a person would say it. */
const packageRules: readonly { readonly name: RegExp; readonly allowed: RegExp; readonly rule: string }[] = [
  {
    name: /^(elysia|@elysiajs\/.*)(\/|$)/,
    allowed: /^src\/(app\.ts$|scim\/|upload\/|admin\/|http\/|console\/)/,
    rule: 'Elysia belongs to the surfaces and app.ts',
  },
  {
    name: /^kysely(-|\/|$)/,
    allowed: /^src\/(storage\/|.*-store\.ts$|.*\/filter-sql(-[a-z]+)*\.ts$)/,
    rule: 'Kysely belongs to storage/, *-store.ts and filter-sql*.ts',
  },
  {
    name: /^(pg|pg-cursor|mysql2|bun:sqlite)(\/|$)/,
    allowed: /^(src\/(storage|requests)|connectors\/sql)\//,
    rule: 'database drivers belong to storage/, requests/ and connectors/sql/',
  },
];

const textRules: readonly { readonly pattern: RegExp; readonly allowed?: RegExp; readonly rule: string }[] = [
  {
    pattern: /\bprocess\s*\.\s*env\b|\bprocess\[['"]env|\bBun\.env\b|\bimport\.meta\.env\b/,
    allowed: /^src\/config\/env\.ts$/,
    rule: 'the environment is read in config/env.ts alone',
  },
  {
    pattern: /\bsql\s*\.\s*(raw|lit)\s*(<[^>]*>)?\(/,
    rule: 'values reach SQL as parameters, never by sql.raw or sql.lit',
  },
  {
    pattern: /^\s*export\s+default\b|^\s*export\s*\{[^}]*\bas\s+default\b/m,
    // The declaration of an embedded file can only be a default export.
    allowed: /\.d\.ts$/,
    rule: 'exports are named',
  },
];

/** Everything wrong with one file of src/, as sentences; `path` is relative to the project's root. */
function problemsOf(path: string, text: string): string[] {
  return [...placeProblems(path, text), ...importProblems(path, text), ...textProblems(path, text)];
}

function placeProblems(path: string, text: string): string[] {
  const folders = path.split('/').slice(1, -1);
  const name = path.split('/').at(-1) ?? '';
  const problems: string[] = [];
  if (folders.length > 2) problems.push('folders are at most two deep');
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+)+$/.test(name) && !customary.test(name))
    problems.push('file names are kebab-case');
  if (
    /^(utils?|common|helpers?)(\.|$)/.test(name) ||
    folders.some((each) => /^(utils?|common|helpers?)$/.test(each))
  ) {
    problems.push('there are no utils, common or helpers');
  }
  if (/^index\.tsx?$/.test(name) && folders.at(-1) !== 'migrations')
    problems.push('there are no barrel files');
  if (isScript(path) && text.split('\n').length - 1 > linesMax)
    problems.push(`a file has at most ${linesMax} lines`);
  return problems;
}

/** Names as others give them: the first file one reads, and modules of Python. */
const customary = /^(README\.md|[a-z0-9_]+\.py)$/;

function isConnector(path: string): boolean {
  return path.startsWith('connectors/');
}

function isScript(path: string): boolean {
  return /\.tsx?$/.test(path);
}

function textProblems(path: string, text: string): string[] {
  if (!isScript(path)) return [];
  return textRules
    .filter(({ pattern, allowed }) => pattern.test(text) && !allowed?.test(path))
    .map(({ rule }) => rule);
}

function importProblems(path: string, text: string): string[] {
  if (!isScript(path)) return [];
  return importsOf(text).flatMap((specifier) => {
    if (specifier.startsWith('/') || /^[a-z]:[\\/]/i.test(specifier))
      return [`${specifier} is a path on one machine`];
    return specifier.startsWith('.') ? fileProblems(path, specifier) : packageProblems(path, specifier);
  });
}

const importForms: readonly RegExp[] = [
  /^[ \t]*(?:import|export)\b(?:[^'"`;()]*?\bfrom)?\s*(['"])(?<specifier>[^'"\n]+)\1/gm,
  /\b(?:import|require)\s*\(\s*(['"`])(?<specifier>[^'"`\n]+)\1/g,
  /\bimport\.meta\.resolve\s*\(\s*(['"`])(?<specifier>[^'"`\n]+)\1/g,
];

/** Every module that `text` names, types-only and dynamic imports included. */
function importsOf(text: string): string[] {
  const found = importForms.flatMap((form) =>
    [...text.matchAll(form)].map((match) => match.groups?.specifier ?? ''),
  );
  return [...new Set(found)];
}

function packageProblems(path: string, specifier: string): string[] {
  return packageRules
    .filter(({ name, allowed }) => name.test(specifier) && !allowed.test(path))
    .map(({ rule }) => `${specifier}: ${rule}`);
}

function fileProblems(path: string, specifier: string): string[] {
  const target = join(dirname(path), specifier);
  if (!/\.[a-z0-9]+$/.test(target)) return [`${specifier} needs its file ending`];
  if (isConnector(path)) return connectorProblems(path, target);
  if (!target.startsWith('src/')) return outsideProblems(path, target);
  const [from, to] = [partOf(path), partOf(target)];
  return mayImport(from, to) ? [] : [`${from} may not import ${to} (${specifier})`];
}

/** Beside src/ there are schemas to embed, and connectors, which the registry lists. */
function outsideProblems(path: string, target: string): string[] {
  if (target.startsWith('schemas/')) return [];
  if (target.startsWith('connectors/') && importsConnectors.test(path)) return [];
  return [`${target} lies outside src/ and schemas/`];
}

/** The registry loads kinds, and the examples are embedded to be written out. */
const importsConnectors = /^src\/connectors\/(registry|new-connector)\.ts$/;

/** A connector sees its own folder and its contract: nothing of the directory, and nothing of another connector. */
function connectorProblems(path: string, target: string): string[] {
  const folder = path.split('/').slice(0, 2).join('/');
  if (target.startsWith(`${folder}/`) || connectorImports.test(target)) return [];
  return [`${folder} may not import ${target}: a connector sees its own folder and its contract`];
}

/** "scim" for src/scim/users.ts, "app" for src/app.ts. */
function partOf(path: string): string {
  return (path.split('/')[1] ?? '').replace(/\.[a-z.]+$/, '');
}

function mayImport(from: string, to: string): boolean {
  const [fromLayer, toLayer] = [layerOf(from), layerOf(to)];
  if (fromLayer < 0 || toLayer < 0) return false;
  if (from === to) return true;
  if (from === 'console') return to === 'admin';
  // The executable embeds the pages, and app.ts hands them to the surface that serves them.
  if (fromLayer !== toLayer) return fromLayer < toLayer && (to !== 'console' || from === 'app');
  const isOpen = fromLayer === 0 || fromLayer === layers.length - 1;
  return isOpen || (sideways[from]?.includes(to) ?? false);
}

function layerOf(part: string): number {
  return layers.findIndex((layer) => layer.includes(part));
}

async function problemsOfSources(): Promise<string[]> {
  const scan = (glob: string) => [...new Glob(glob).scanSync({ cwd: root, onlyFiles: true })];
  const paths = [...scan('src/**/*'), ...scan('connectors/**/*')].slice(0, filesMax).sort();
  const found = paths.map(async (path) => {
    const file = Bun.file(join(root, path));
    const text = isScript(path) ? await file.text() : '';
    return problemsOf(path, text).map((problem) => `${relative('.', path)}: ${problem}`);
  });
  return (await Promise.all(found)).flat();
}

describe('the sources', () => {
  test('keep to the direction of imports and the rules of the house', async () => {
    expect(await problemsOfSources()).toEqual([]);
  });

  test('are read at all', () => {
    expect([...new Glob('src/**/*.ts').scanSync({ cwd: root })]).toContain('src/errors.ts');
  });
});

const refused: readonly (readonly [path: string, text: string, problem: string])[] = [
  ['src/directory/user-store.ts', "import { a } from '../scim/users.ts';", 'directory may not import scim'],
  [
    'src/storage/sqlite.ts',
    "import type { A } from '../directory/directory.ts';",
    'storage may not import directory',
  ],
  ['src/resource/path.ts', "import { a } from '../storage/database.ts';", 'resource may not import storage'],
  ['src/resource/path.ts', "import { a } from '../pattern/re2.ts';", 'resource may not import pattern'],
  [
    'src/scim/users.ts',
    "import {\n  a,\n  type B,\n} from '../upload/intake.ts';",
    'scim may not import upload',
  ],
  ['src/http/gate.ts', "import { a } from '../scim/users.ts';", 'http may not import scim'],
  ['src/imports/plan.ts', "export * from '../connectors/runner.ts';", 'imports may not import connectors'],
  [
    'src/connectors/runner.ts',
    "import { a } from '../directory/directory.ts';",
    'connectors may not import directory',
  ],
  [
    'src/directory/directory.ts',
    "import { a } from '../sources/source.ts';",
    'directory may not import sources',
  ],
  [
    'src/security/token.ts',
    "const a = await import('../sources/source.ts');",
    'security may not import sources',
  ],
  ['src/security/token.ts', "type A = import('../sources/source.ts').A;", 'security may not import sources'],
  ['src/scim/users.ts', "import '../app.ts';", 'scim may not import app'],
  ['src/errors.ts', "import type { A } from './resource/path.ts';", 'errors may not import resource'],
  [
    'src/console/page.tsx',
    "import { a } from '../directory/directory.ts';",
    'console may not import directory',
  ],
  ['src/cli/user.ts', "import { a } from '../misc/thing.ts';", 'cli may not import misc'],
  ['src/cli/serve.ts', "import { a } from '../console/console.ts';", 'cli may not import console'],
  ['src/admin/admin.ts', "import { a } from '../console/console.ts';", 'admin may not import console'],
  ['src/scim/users.ts', "import { a } from './groups';", 'needs its file ending'],
  ['src/scim/users.ts', "import a from '../../../shared/x.json';", 'lies outside'],
  ['src/scim/users.ts', "import { a } from '/work/x.ts';", 'path on one machine'],
  ['src/scim/users.ts', "import { a } from '../../connectors/csv/csv.ts';", 'lies outside'],
  ['src/scim/users.ts', "import { a } from '../../node_modules/x/y.js';", 'lies outside'],
  ['src/connectors/runner.ts', "import { a } from '../../connectors/csv/csv.ts';", 'lies outside'],
  ['connectors/csv/csv.ts', "import { a } from '../../src/imports/intake.ts';", 'may not import src/imports'],
  ['connectors/csv/csv.ts', "import { a } from '../../src/connectors/runner.ts';", 'may not import'],
  ['connectors/csv/csv.ts', "import { a } from '../sql/sql.ts';", 'may not import connectors/sql'],
  ['connectors/csv/csv.ts', 'const a = process.env.HOME;', 'the environment is read'],
  ['src/directory/directory.ts', "import { Elysia } from 'elysia';", 'Elysia belongs'],
  ['src/cli/serve.ts', "import { a } from '@elysiajs/openapi';", 'Elysia belongs'],
  ['src/directory/directory.ts', "import { sql } from 'kysely';", 'Kysely belongs'],
  ['src/directory/directory.ts', "import type { A } from 'kysely/helpers/sqlite';", 'Kysely belongs'],
  ['src/cli/doctor.ts', "import { Database } from 'bun:sqlite';", 'database drivers belong'],
  ['src/http/gate.ts', 'const port = process.env.PORT;', 'the environment is read'],
  ['src/http/gate.ts', 'const port = Bun.env.PORT;', 'the environment is read'],
  ['src/storage/sqlite.ts', 'const a = sql.raw(name);', 'values reach SQL'],
  ['src/storage/sqlite.ts', 'const a = sql.lit<string>(name);', 'values reach SQL'],
  ['src/log.ts', 'export default function log() {}', 'exports are named'],
  ['src/log.ts', 'export { log as default };', 'exports are named'],
  ['src/scim/a/b/users.ts', '', 'at most two deep'],
  ['src/scim/userStore.ts', '', 'kebab-case'],
  ['src/scim/helpers.ts', '', 'no utils'],
  ['src/utils/date.ts', '', 'no utils'],
  ['src/scim/index.ts', '', 'no barrel files'],
  ['src/log.ts', '\n'.repeat(501), 'at most 500 lines'],
];

const accepted: readonly (readonly [path: string, text: string])[] = [
  ['src/main.ts', "import { app } from './app.ts';\nimport { a } from './cli/serve.ts';"],
  ['src/app.ts', "import { a } from './console/console.ts';"],
  ['src/scim/users.ts', "import { Elysia } from 'elysia';\nimport { a } from '../http/gate.ts';"],
  ['src/scim/users.ts', "import { a } from '../resource/path.ts';\nimport { b } from '../errors.ts';"],
  [
    'src/directory/user-store.ts',
    "import { sql } from 'kysely';\nimport { a } from '../storage/database.ts';",
  ],
  ['src/connectors/registry.ts', "import { a } from '../../connectors/csv/csv.ts';"],
  [
    'connectors/csv/csv.ts',
    "import type { Connector } from '../../src/connectors/contract.ts';\nimport { a } from './lines.ts';",
  ],
  [
    'src/imports/apply.ts',
    "import { a } from '../directory/directory.ts';\nimport { b } from '../sources/source.ts';",
  ],
  ['src/console/users.tsx', "import type { A } from '../admin/model.ts';\nimport { useState } from 'react';"],
  ['src/xml/validate.ts', "import xsd from '../../schemas/profile-sync.xsd' with { type: 'text' };"],
  ['src/config/env.ts', 'export const port = process.env.ROLLCALL_PORT;'],
  ['src/storage/migrations/index.ts', "export { init } from './0001-init.ts';"],
  [
    'src/log.ts',
    "// import { a } from './scim/users.ts';\nexport const text = 'imported from the directory';",
  ],
];

describe('problemsOf', () => {
  test.each(refused)('refuses in %s: %j', (path, text, problem) => {
    expect(problemsOf(path, text).join('\n')).toContain(problem);
  });

  test.each(accepted)('accepts in %s: %j', (path, text) => {
    expect(problemsOf(path, text)).toEqual([]);
  });
});
