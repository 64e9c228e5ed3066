import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { install } from '../support/executable.ts';
import { type GeneratedProfile, generateProfileXml } from '../support/generate-profile-xml.ts';

interface Run {
  readonly status: string;
  readonly counts: Readonly<Record<string, number>>;
}

async function writeFileOf(profile: GeneratedProfile, path: string): Promise<void> {
  const file = Bun.file(path).writer();
  for await (const piece of generateProfileXml(profile)) {
    file.write(piece);
    await file.flush();
  }
  await file.end();
}

/** The people whom the database holds: how many, how many of them with a manager, and the last of them. */
function peopleIn(data: string) {
  using db = new Database(join(data, 'rollcall.db'), { readonly: true });
  const numbers = "select count(*) as people, count(manager_id) as managed from user where state = 'active'";
  const last = 'select user_name as last from user order by id desc limit 1';
  return { ...(db.query(numbers).get() as object), ...(db.query(last).get() as object) };
}

/** A folder with the compiled executable, a source "HR" and files to import. */
async function openOffice() {
  const installation = install();
  const data = join(installation.folder, 'data');
  await installation.run('source', 'create', '--kind', 'general', '--name', 'HR', '--data', data);
  return {
    data,
    async imported(name: string, profile: GeneratedProfile): Promise<Run> {
      const path = join(installation.folder, name);
      await writeFileOf({ ...profile, domain: 'HR' }, path);
      return installation.runJson('import', path, '--source', 'HR', '--data', data);
    },
    [Symbol.dispose]: () => installation[Symbol.dispose](),
  };
}

/** Nineteen of twenty have a manager, half of them one who comes later in the file. */
const managedOf = (users: number) => Math.floor((users * 19) / 20);

describe('rollcall import, compiled, without a server', () => {
  test.each([1, 1_000])(
    'brings in the people of a file, renames all with the next, and knows it again: %d',
    async (users) => {
      using office = await openOffice();
      const first = await office.imported('first.xml', { users });
      expect(first).toMatchObject({ status: 'completed', counts: { created: users, issues: 0 } });
      const managed = managedOf(users);
      const last = `${users}@example.com`;
      expect(peopleIn(office.data)).toEqual({ people: users, managed, last: `user.${last}` });
      const second = await office.imported('second.xml', { users, renamed: 1 });
      const counts = { created: 0, updated: users, issues: 0 };
      expect(second).toMatchObject({ status: 'completed', counts });
      expect(peopleIn(office.data)).toEqual({ people: users, managed, last: `renamed.${last}` });
      expect(await office.imported('again.xml', { users, renamed: 1 })).toMatchObject({
        status: 'unchanged',
      });
    },
  );

  test('brings in 100,000 people from a file', async () => {
    using office = await openOffice();
    const users = 100_000;
    const run = await office.imported('first.xml', { users });
    expect(run).toMatchObject({ status: 'completed', counts: { created: users, issues: 0 } });
    const managed = managedOf(users);
    expect(peopleIn(office.data)).toEqual({ people: users, managed, last: `user.${users}@example.com` });
  }, 300_000);
});
