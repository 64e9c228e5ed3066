import { expect, test } from 'bun:test';
import { join } from 'node:path';

const root = join(import.meta.dir, '..', '..');

/** The codes that some line under src/scim can write into the request log. */
async function codesInUse(): Promise<string[]> {
  const codes = new Set<string>();
  for await (const file of new Bun.Glob('src/scim/**/*.ts').scan(root)) {
    const text = await Bun.file(join(root, file)).text();
    for (const [, code = ''] of text.matchAll(/(?:\bcode: |\bnote\(call, )'([a-z-]+)'/g)) codes.add(code);
  }
  return [...codes].toSorted();
}

test('docs/repairs.md tells of every repair that the log can name, and of no other', async () => {
  const told = [
    ...(await Bun.file(join(root, 'docs', 'repairs.md')).text()).matchAll(/^\| `([a-z-]+)` \|/gm),
  ];
  expect(told.map(([, code]) => code)).toEqual(await codesInUse());
});
