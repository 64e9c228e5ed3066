import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type Json, readFailure, Workplace } from './support.ts';

const user = (name: string) => `<user id="${name}" username="${name}"><additionalfields/></user>`;

/** A folder whose source "HR" has thirty people, and a run 2 that would disable all but five of them. */
async function withHeldRun(): Promise<Workplace> {
  const place = new Workplace();
  await place.json('source', 'create', '--kind', 'general', '--name', 'HR');
  await place.json('import', await write(place, 30), '--source', 'HR');
  await place.run('import', await write(place, 5), '--source', 'HR');
  return place;
}

async function write(place: Workplace, count: number): Promise<string> {
  const file = join(place.folder, 'people.xml');
  const head = '<syncoptions domain="HR" ldapid="1"><option name="syncCompanies">true</option></syncoptions>';
  const users = Array.from({ length: count }, (_, index) => user(`person${index}`)).join('');
  await Bun.write(file, `<syncdata version="1">${head}<users>${users}</users></syncdata>`);
  return file;
}

describe('rollcall run', () => {
  test('list names the runs, newest first, with how to decide about one that waits', async () => {
    using place = await withHeldRun();
    const { runs } = await place.json('run', 'list');
    expect((runs as Json[]).map(({ importId, status }) => [importId, status])).toEqual([
      [2, 'awaiting-approval'],
      [1, 'completed'],
    ]);
    const { stdout } = await place.run('run', 'list', '--source', 'hr');
    expect(stdout).toMatch(/^2 +HR +awaiting-approval .+"rollcall run approve 2" lets it go on/m);
  });

  test('list shows the runs of one source alone', async () => {
    using place = await withHeldRun();
    await place.json('source', 'create', '--kind', 'general', '--name', 'Sales');
    expect(await place.json('run', 'list', '--source', 'Sales')).toEqual({ runs: [] });
    expect(readFailure(await place.run('run', 'list', '--source', 'none'))).toStartWith(
      'There is no source "none"',
    );
  });

  test('show tells what a run waits for, and succeeds', async () => {
    using place = await withHeldRun();
    const shown = await place.json('run', 'show', '2');
    expect(shown).toMatchObject({ importId: 2, status: 'awaiting-approval', planned: { disabled: 25 } });
    const { status, stdout } = await place.run('run', 'show', '2');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^message: +The import waits for approval: .+"rollcall run reject 2" ends it\.$/m);
    expect(stdout).toMatch(/^disabled: +25$/m);
  });

  test('approve lets the run go on as soon as something works on the folder', async () => {
    using place = await withHeldRun();
    const { stdout } = await place.run('run', 'approve', '2');
    expect(stdout).toBe('Run 2 is approved; it goes on once the service runs.\n');
    await place.json('import', await write(place, 6), '--source', 'HR');
    expect(await place.json('run', 'show', '2')).toMatchObject({
      status: 'completed',
      counts: { disabled: 25 },
    });
  });

  test('log prints what happened, and who approved', async () => {
    using place = await withHeldRun();
    await place.run('run', 'approve', '2');
    const { status, stdout, stderr } = await place.run('run', 'log', '2');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(
      /^Import 2 of the source "HR" \(id 1\)\nDocument: people\.xml, \d+ bytes, 5 users/,
    );
    expect(stdout).toContain('  syncCompanies = true (file)\n  syncDepartments = true (source)\n');
    expect(stdout).toMatch(
      /Z {2}guard: holds it for approval\n\S+Z {2}approved on the command line by (.+, )?uid \d+\n$/,
    );
    expect((await place.json('run', 'log', '2')).log).toBe(`${stdout.trimEnd()}\n`);
    expect(readFailure(await place.run('run', 'log', '9'))).toBe('There is no import with the id 9.');
  });

  test('compare names who is there no longer, and prints all of them as CSV', async () => {
    using place = await withHeldRun();
    const { stdout } = await place.run('run', 'compare', '2', '--limit', '2');
    const [head, , first, second, more] = stdout.split('\n');
    expect(head).toBe('Import 2 compared with import 1: 0 added, 25 removed, 0 changed.');
    expect(first).toMatch(/^removed +person10 +\d+ +person10 +person10$/);
    expect(second).toMatch(/^removed +person11 /);
    expect(more).toBe('and 23 more; --csv prints all of them.');
    const csv = (await place.run('run', 'compare', '2', '1', '--csv')).stdout.trimEnd().split('\r\n');
    expect(csv).toHaveLength(26);
    expect(csv[0]).toBe('difference,record,id,username,name,changed');
    expect(csv[1]).toMatch(/^removed,person10,\d+,person10,person10,$/);
    expect(readFailure(await place.run('run', 'compare', '1'))).toBe(
      'There is no earlier import of the source to compare import 1 with.',
    );
  });

  test('reject ends it, and nothing has been changed', async () => {
    using place = await withHeldRun();
    expect(await place.json('run', 'reject', '2')).toMatchObject({ importId: 2, status: 'rejected' });
    expect(readFailure(await place.run('run', 'approve', '2'))).toBe(
      'Import 2 is rejected and so cannot be approved.',
    );
    expect((await place.json('user', 'show', '30')).state).toBe('active');
  });

  test('records tells what became of each record, by outcome, in pages, as CSV', async () => {
    using place = await withHeldRun();
    const { records } = await place.json('run', 'records', '1', '--limit', '2');
    expect(records).toEqual([
      { seq: 1, kind: 'user', recordId: 'person0', line: 1, action: 'create', resourceId: 1, changed: [] },
      { seq: 2, kind: 'user', recordId: 'person1', line: 1, action: 'create', resourceId: 2, changed: [] },
    ]);
    const later = await place.json('run', 'records', '2', '--action', 'disable', '--after', '6');
    expect((later.records as Json[]).map(({ kind, resourceId }) => [kind, resourceId])).toHaveLength(24);
    const { stdout } = await place.run('run', 'records', '1', '--csv');
    expect(stdout.split('\r\n').slice(0, 2)).toEqual([
      'seq,line,kind,record,outcome,id,changed',
      '1,1,user,person0,create,1,',
    ]);
    expect(stdout.split('\r\n')).toHaveLength(32);
    expect(readFailure(await place.run('run', 'records', '1', '--action', 'eaten'))).toStartWith(
      '--action takes one of create, update',
    );
  });

  test('rerun imports an archived document again, retry only what went wrong in it', async () => {
    using place = await withHeldRun();
    expect(await place.json('run', 'rerun', '1', '--dry-run')).toMatchObject({
      importId: 3,
      origin: 'rerun',
      status: 'completed',
      planned: { unchanged: 30 },
    });
    expect(readFailure(await place.run('run', 'retry', '1'))).toBe(
      'No user of import 1 went wrong; there is nothing to retry.',
    );
  });

  test('re-enable makes everyone active again whom a run disabled', async () => {
    using place = await withHeldRun();
    await place.run('run', 'approve', '2');
    await place.json('import', await write(place, 6), '--source', 'HR');
    const { stdout } = await place.run('run', 're-enable', '2');
    expect(stdout).toBe(
      '24 people are active again. As they were: 1 (active already, archived, or disabled otherwise).\n',
    );
    expect((await place.json('user', 'show', '30')).state).toBe('active');
  });

  test('cancel ends a run that is not over', async () => {
    using place = await withHeldRun();
    expect(await place.json('run', 'cancel', '2')).toMatchObject({ importId: 2, status: 'cancelled' });
    expect(readFailure(await place.run('run', 'cancel', '1'))).toBe(
      'Import 1 is completed and so cannot be cancelled.',
    );
  });

  test('refuses a run that is not there', async () => {
    using place = await withHeldRun();
    expect(readFailure(await place.run('run', 'show', '9'))).toBe('There is no import with the id 9.');
    expect(readFailure(await place.run('run', 'show', 'two'))).toBe(
      'The id of a run is a number, not "two".',
    );
  });
});
