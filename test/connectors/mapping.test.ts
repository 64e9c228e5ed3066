import { describe, expect, test } from 'bun:test';
import type { Mapping, MappingRule, SourceRecord, Value } from '../../src/connectors/contract.ts';
import { compileMapping, requireColumns, sourceRecordOf } from '../../src/connectors/mapping.ts';

const defaults: Mapping = {
  user: { id: 'id', username: 'login' },
  group: { id: 'id', type: 'type', name: 'name' },
};

async function mapUser(user: Mapping['user'], record: SourceRecord) {
  const mapping = await compileMapping({ ...(user === undefined ? {} : { user }) }, defaults);
  return mapping.user(record);
}

/** What one rule makes of a record. */
async function mapped(rule: MappingRule, record: SourceRecord): Promise<Value> {
  return (await mapUser({ title: rule }, { id: '1', ...record })).title;
}

async function refusal(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('Nothing was refused.');
}

describe('a rule', () => {
  test('takes a column, without the spaces around it', async () => {
    expect(await mapped('a', { a: '  Dr.\u00a0' })).toBe('Dr.');
  });

  test('leaves alone what is stored when the column is empty or not there', async () => {
    expect(await mapped('a', { a: ' ' })).toBeUndefined();
    expect(await mapped('a', { a: null })).toBeUndefined();
    expect(await mapped('a', {})).toBeUndefined();
  });

  test('clears what is stored when otherwise is null', async () => {
    expect(await mapped({ column: 'a', otherwise: null }, { a: '' })).toBeNull();
    expect(await mapped({ column: 'a', otherwise: 'none' }, { a: '' })).toBe('none');
    expect(await mapped({ column: 'a', otherwise: null }, { a: 'x' })).toBe('x');
  });

  test('takes values of any type of JSON as text', async () => {
    expect(await mapped('a', { a: 17 })).toBe('17');
    expect(await mapped('a', { a: 1e21 })).toBe('1000000000000000000000');
    expect(await mapped('a', { a: 0.5 })).toBe('0.5');
    expect(await mapped('a', { a: 12345678901234567890n })).toBe('12345678901234567890');
    expect(await mapped('a', { a: false })).toBe('false');
    expect(await mapped('a', { a: ['', null, 'b', 'c'] })).toBe('b');
    expect(await mapped('a', { a: new Uint8Array([0, 255]) })).toBe('00ff');
    expect(await mapped('a', { a: new Date(0) })).toBe('1970-01-01T00:00:00.000Z');
  });

  test('says what to do about an object', async () => {
    const said = await refusal(() => mapped('name', { name: { given: 'Ada' } }));
    expect(said).toBe(
      'The record with the id "1": title cannot be read from "name": it holds an object; ' +
        'name what is inside it, as in "name.givenName" or "emails[0].value".',
    );
  });

  test('follows a path into a record', async () => {
    const record = {
      name: { given: 'Ada' },
      emails: [
        { type: 'home', value: 'h' },
        { type: 'work', value: 'w' },
      ],
    };
    expect(await mapped('name.given', record)).toBe('Ada');
    expect(await mapped('emails[0].value', record)).toBe('h');
    expect(await mapped('emails[type=work].value', record)).toBe('w');
    expect(await mapped('emails[*].value', record)).toBe('h');
    expect(await mapped('emails[7].value', record)).toBeUndefined();
    expect(await mapped('name.given.more', record)).toBeUndefined();
  });

  test('prefers a column that is called like a path', async () => {
    expect(await mapped('a.b', { 'a.b': 'whole', a: { b: 'inside' } })).toBe('whole');
    expect(await mapped('E-mail [work]', { 'E-mail [work]': 'x' })).toBe('x');
  });

  test('never finds what a record inherits', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'a.constructor.name', 'a.__proto__'])
      expect(await mapped(name, { a: {} })).toBeUndefined();
    const own = JSON.parse('{"__proto__": "mine"}') as SourceRecord;
    expect(await mapped('__proto__', { ...own, ['__proto__']: 'mine' })).toBe('mine');
  });

  test('gives a constant', async () => {
    expect(await mapped({ constant: 'Mx' }, {})).toBe('Mx');
    expect(await mapped({ constant: false }, {})).toBe('false');
    expect(await mapped({ constant: 0 }, {})).toBe('0');
  });

  test('fills in a template, where doubled braces are braces', async () => {
    const record = { first: ' Ada ', last: 'Lovelace', none: '' };
    expect(await mapped({ template: '{first}.{last}@x', case: 'lower' }, record)).toBe('ada.lovelace@x');
    expect(await mapped({ template: '{{{first}}}' }, record)).toBe('{Ada}');
    expect(await mapped({ template: 'plain' }, record)).toBe('plain');
  });

  test('gives no text when a column of the template is empty, unless it may be', async () => {
    const record = { first: 'Ada', middle: '', last: 'Lovelace' };
    expect(await mapped({ template: '{first}.{middle}@x' }, record)).toBeUndefined();
    expect(await mapped({ template: '{first} {middle?} {last}' }, record)).toBe('Ada Lovelace');
  });

  test('refuses a template with a single brace', async () => {
    expect(await refusal(() => mapped({ template: 'a}' }, {}))).toBe(
      'The template of title has a single } at character 2. Write a column as {column}, and }} for the sign itself.',
    );
    expect(await refusal(() => mapped({ template: '{' }, {}))).toContain('a single { at character 1');
  });

  test('replaces, then translates, then changes the case', async () => {
    const rule: MappingRule = {
      column: 'a',
      replace: [
        { pattern: '^(\\d{2})\\.(\\d{2})\\.(\\d{4})$', with: '$3-$2-$1' },
        { pattern: '-', with: '/' },
      ],
      values: { '2024/05/31': 'Last', Last: 'not twice' },
      case: 'upper',
    };
    expect(await mapped(rule, { a: '31.05.2024' })).toBe('LAST');
    expect(await mapped(rule, { a: 'x' })).toBe('X');
  });

  test('takes only texts of its own from the table of values', async () => {
    expect(await mapped({ column: 'a', values: { x: 'y' } }, { a: 'constructor' })).toBe('constructor');
    expect(await mapped({ column: 'a', values: { A: '' }, otherwise: null }, { a: 'A' })).toBeNull();
  });

  test('names attribute and fault of a pattern that RE2 does not accept', async () => {
    const rule = { column: 'a', replace: [{ pattern: '(', with: '' }] };
    expect(await refusal(() => mapped(rule, {}))).toBe(
      'The pattern "(" of "replace" in title is not accepted: missing ): (.',
    );
    expect(await refusal(() => mapped({ column: 'a', split: '(?=x)' }, {}))).toContain('of "split" in title');
    expect(await refusal(() => mapped({ column: 'a', split: 'x*' }, {}))).toContain('matches the empty text');
  });

  test('refuses a text that is too long for a pattern, and says whose', async () => {
    const rule = { column: 'a', replace: [{ pattern: 'x+', with: 'y' }] };
    expect(await refusal(() => mapped(rule, { a: 'x'.repeat(5_000) }))).toBe(
      'The record with the id "1": title cannot be read from "a": The text for a pattern is longer than 4096 characters; shorten it.',
    );
  });

  test('needs exactly one of column, template and constant', async () => {
    const expected = 'The mapping of title needs exactly one of "column", "template" and "constant".';
    expect(await refusal(() => mapped({}, {}))).toBe(expected);
    expect(await refusal(() => mapped({ column: 'a', constant: 'b' }, {}))).toBe(expected);
  });
});

describe('a person', () => {
  test('has what lies below dots', async () => {
    const user = await mapUser(
      {
        'phones.work': 'tel',
        'phones.home': 'none',
        'addresses.home.street': 'street',
        'additionalfields.badge': 'badge',
        'additionalfields.__proto__': 'badge',
        'alternateemail.home': 'none',
        'alternateemail.mobile': 'mail',
        'ims.skype': { column: 'none', otherwise: null },
      },
      { id: 7, login: 'ada', tel: '1', street: 'S', badge: 'B', mail: 'm@x' },
    );
    expect(user).toEqual({
      kind: 'user',
      id: '7',
      username: 'ada',
      phones: { work: '1' },
      addresses: { home: { street: 'S' } },
      alternateemail: { type: 'mobile', value: 'm@x' },
      ims: { skype: null },
      additionalfields: Object.fromEntries([
        ['badge', 'B'],
        ['__proto__', 'B'],
      ]),
    });
  });

  test('keeps the spaces of a password, and of nothing else', async () => {
    const user = await mapUser({ password: 'p', title: 'p' }, { id: '1', p: ' secret ' });
    expect(user).toMatchObject({ password: ' secret ', title: 'secret' });
  });

  test('is in the groups of a list or of a text that is split', async () => {
    const groups = async (rule: MappingRule, record: SourceRecord) =>
      (await mapUser({ groups: rule }, { id: '1', ...record })).groups;
    expect(await groups('g', { g: ['a', '', 'b'] })).toEqual(['a', 'b']);
    expect(await groups({ column: 'g', split: ';' }, { g: 'a; b;;c' })).toEqual(['a', 'b', 'c']);
    expect(await groups({ column: 'g', split: '\\|' }, { g: 'a|b' })).toEqual(['a', 'b']);
    expect(await groups({ column: 'g', split: '\\s*[,;]\\s*' }, { g: 'a , b;c' })).toEqual(['a', 'b', 'c']);
    expect(await groups({ column: 'g', split: '.' }, { g: 'abc' })).toEqual([]);
  });

  test('keeps its memberships when the column is not there, and has none when it is empty', async () => {
    const groups = async (record: SourceRecord, otherwise?: string | null) => {
      const rule = { column: 'g', split: ';', ...(otherwise === undefined ? {} : { otherwise }) };
      return (await mapUser({ groups: rule }, { id: '1', ...record })).groups;
    };
    expect(await groups({})).toBeUndefined();
    expect(await groups({ g: '' })).toEqual([]);
    expect(await groups({ g: null })).toEqual([]);
    expect(await groups({}, null)).toEqual([]);
    expect(await groups({}, 'all')).toEqual(['all']);
  });

  test('is in groups that are told by type and name', async () => {
    const user = await mapUser(
      { groups: 'ids', 'groups.security group': { column: 'roles', split: ',' }, 'groups.location': 'site' },
      { id: '1', ids: ['g1'], roles: 'Admins,Staff', site: 'Oslo' },
    );
    expect(user.groups).toEqual([
      'g1',
      { type: 'location', name: 'Oslo' },
      { type: 'security group', name: 'Admins' },
      { type: 'security group', name: 'Staff' },
    ]);
  });

  test('without an id is refused with the columns that there are', async () => {
    expect(await refusal(() => mapUser({}, { ID: '1', login: 'a' }))).toBe(
      'Record 1: it has no id: "id" gives nothing. Its columns are ID, login.',
    );
  });

  test('is traced back to its source', async () => {
    const mapping = await compileMapping(undefined, defaults, { remembersSources: true });
    const record = { id: '1' };
    expect(sourceRecordOf(mapping.user(record))).toBe(record);
    expect(sourceRecordOf({ kind: 'user', id: '1' })).toBeUndefined();
  });
});

describe('a group', () => {
  test('has a type in any case', async () => {
    const mapping = await compileMapping(
      { group: { type: { constant: 'Security Group' }, description: 'd' } },
      defaults,
    );
    expect(mapping.group({ id: 'g', name: 'N', d: 'D' })).toEqual({
      kind: 'group',
      id: 'g',
      type: 'security group',
      name: 'N',
      description: 'D',
    });
  });

  test('of another type is refused with the types that there are', async () => {
    const mapping = await compileMapping(undefined, defaults);
    expect(await refusal(() => mapping.group({ id: 'g', name: 'N', type: 'team' }))).toBe(
      'The record with the id "g": its type is "team", which has to be one of company, department, location, ' +
        'security group; translate it by "values".',
    );
  });
});

describe('the mapping of a configuration', () => {
  test('replaces defaults, and switches them off by null', async () => {
    const mapping = await compileMapping({ user: { username: null, title: 'login' } }, defaults);
    expect(mapping.user({ id: '1', login: 'a' })).toEqual({ kind: 'user', id: '1', title: 'a' });
  });

  test('refuses a key that no attribute has', async () => {
    const said = (key: string) => refusal(() => mapUser({ [key]: 'a' }, { id: '1' }));
    expect(await said('firstName')).toBe(
      'The mapping names "firstName", which no user has. Did you mean "firstname"?',
    );
    expect(await said('phones.fax')).toContain('which no user has. There are: id, username, active');
    for (const key of ['__proto__', 'constructor', 'additionalfields.', 'addresses.work'])
      expect(await said(key)).toContain(`"${key}", which no user has`);
  });

  test('names, at the end, columns that no record had', async () => {
    const mapping = await compileMapping(
      { user: { title: 'titel', surname: 'sn', email: { template: '{sn}@{domain?}' } } },
      { user: { ...defaults.user, bio: 'about' } },
    );
    mapping.user({ id: '1', sn: 'A' });
    mapping.user({ id: '2', extra: 'A' });
    expect(mapping.warnings()).toEqual([
      'No record has the column "titel", from which title is taken. There are: id, sn, extra.',
      'No record has the column "domain", from which email is taken. There are: id, sn, extra.',
    ]);
  });

  test('warns of nothing when there were no records', async () => {
    const mapping = await compileMapping({ user: { title: 'titel' } }, defaults);
    expect(mapping.warnings()).toEqual([]);
  });

  test('can be held against columns that are known beforehand', async () => {
    const rules = { title: 'a.b', email: { template: '{first}@{host?}' }, bio: null };
    const columns = ['a.b', 'first'];
    expect(await refusal(() => requireColumns(rules, { columns, place: 'The file p.csv' }))).toBe(
      'The file p.csv has no column "host", from which email is taken. Its columns are: a.b, first.',
    );
    requireColumns(rules, { columns: [...columns, 'host'], place: 'The file' });
  });
});
