import { describe, expect, test } from 'bun:test';
import { readFailure, Workplace } from './support.ts';

describe('rollcall settings', () => {
  test('get prints one setting, or all of them', async () => {
    using place = new Workplace();
    await place.json('migrate');
    expect(await place.json('settings', 'get', 'countMax')).toEqual({ key: 'countMax', value: 1_000 });
    expect(await place.json('settings', 'get')).toMatchObject({ countMax: 1_000, passwordStrengthRegex: '' });
    expect((await place.run('settings', 'get', 'countMax')).stdout).toBe('1000\n');
  });

  test('set stores a value that get then prints', async () => {
    using place = new Workplace();
    const value = '^(?=.*\\d).{12,}$';
    const stored = { key: 'passwordStrengthRegex', value };
    expect(await place.json('settings', 'set', 'passwordStrengthRegex', value)).toEqual(stored);
    expect(await place.json('settings', 'get', 'passwordStrengthRegex')).toEqual(stored);
  });

  test('set refuses an expression that does not compile with message and offset, unless forced', async () => {
    using place = new Workplace();
    const set = ['settings', 'set', 'passwordStrengthRegex', '(a'];
    expect(readFailure(await place.run(...set))).toBe(
      'The password strength regex does not compile: missing closing parenthesis at offset 2.',
    );
    expect((await place.json('settings', 'get', 'passwordStrengthRegex')).value).toBe('');
    expect((await place.json(...set, '--force')).value).toBe('(a');
  });

  test('refuses a name and a value that there is no setting for', async () => {
    using place = new Workplace();
    expect(readFailure(await place.run('settings', 'set', 'countMx', '1'))).toStartWith(
      'There is no setting "countMx"; the settings are: passwordStrengthRegex, ',
    );
    expect(readFailure(await place.run('settings', 'set', 'countMax', '0'))).toBe(
      'The setting countMax takes a whole number from 1 to 10000, not "0".',
    );
  });
});

describe('rollcall field', () => {
  test('create derives the id from the label, and list shows the field', async () => {
    using place = new Workplace();
    const words = ['--label', 'Cost centre', '--type', 'string', '--pattern', '[0-9]{4}'];
    const field = {
      id: 'cost_centre',
      label: 'Cost centre',
      type: 'string',
      pattern: '[0-9]{4}',
      required: false,
    };
    expect(await place.json('field', 'create', ...words)).toEqual(field);
    expect(await place.json('field', 'list')).toEqual({ fields: [field] });
  });

  test('remove takes a field away, and create brings it back with the same type', async () => {
    using place = new Workplace();
    const create = ['field', 'create', '--label', 'Size', '--type'];
    await place.json(...create, 'integer', '--required');
    expect((await place.run('field', 'remove', 'size')).stdout).toBe(
      'The additional field size is removed.\n',
    );
    expect(await place.json('field', 'list')).toEqual({ fields: [] });
    expect(readFailure(await place.run('field', 'remove', 'size'))).toBe(
      'There is no additional field "size".',
    );
    expect(readFailure(await place.run(...create, 'string'))).toBe(
      'The additional field "size" was removed, and people keep values of it of the type integer; create it with that type, or choose another label.',
    );
    expect(await place.json(...create, 'integer')).toMatchObject({ id: 'size', required: false });
  });

  test('create refuses another type, a pattern that RE2 does not take, and a label that is taken', async () => {
    using place = new Workplace();
    const create = ['field', 'create', '--label', 'Size'];
    expect(readFailure(await place.run(...create, '--type', 'number'))).toBe(
      'The type of a field is one of string, boolean, integer, decimal, dateTime, not "number".',
    );
    expect(readFailure(await place.run(...create, '--pattern', '(?=a)'))).toStartWith(
      'The pattern is not one that RE2 accepts: ',
    );
    await place.json(...create);
    expect(readFailure(await place.run(...create))).toBe(
      'There is an additional field "size" already; choose another label.',
    );
  });
});
