import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFailure, Workplace } from './support.ts';

describe('rollcall admin invite', () => {
  test('prints a link whose token stands in the fragment, and stores no token', async () => {
    using place = new Workplace();
    const words = ['admin', 'invite', '--name', 'Ann', '--public-url', 'https://id.example.org'];
    const { id, name, link } = await place.json(...words);
    expect({ id, name }).toEqual({ id: 1, name: 'Ann' });
    const token =
      /^https:\/\/id\.example\.org\/console\/#invite=(rollcall_invite_[\w-]{43}[0-9a-z]{7})$/.exec(
        String(link),
      )?.[1];
    if (token === undefined) throw new Error(`not a link: ${link}`);
    expect(readFileSync(join(place.data, 'rollcall.db')).includes(token)).toBe(false);
  });

  test('refuses an empty name', async () => {
    using place = new Workplace();
    expect(readFailure(await place.run('admin', 'invite', '--name', ''))).toBe(
      'An invitation needs a name of 1 to 200 printable characters.',
    );
  });
});
