import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { addressPartNames, leafNames, type UserRecord } from '../../src/xml/records.ts';
import { type ItemToWrite, writeDocument } from '../../src/xml/write.ts';
import { read, validate } from './support.ts';

const head: ItemToWrite = {
  kind: 'head',
  head: { domain: 'A "B" & <C>', ldapid: '7', options: new Map([['mode', 'delta']]) },
};
const bareUser: UserRecord = {
  line: 0,
  leaves: {},
  phones: [],
  ims: [],
  addresses: [],
  additionalfields: [],
};

async function write(items: Iterable<ItemToWrite>): Promise<string> {
  let text = '';
  for await (const piece of writeDocument(items)) text += piece;
  return text;
}

// What the reader leaves as it is: no white space at the ends, single spaces inside.
const word = fc
  .string({ unit: 'binary', maxLength: 12 })
  .map((text) => text.replace(/[^\u0021-\ud7ff\ue000-\ufffd]/gu, '') || 'x');
const line = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '));
const leafOf = (value: fc.Arbitrary<string>) => fc.record({ value, applyBlank: fc.boolean() });
const special: Readonly<Record<string, fc.Arbitrary<string>>> = {
  active: fc.constantFrom('true', 'False', ''),
  omitfromsearch: fc.constantFrom('1', ''),
  forcepasswordreset: fc.constantFrom('0', ''),
  loginType: fc.constantFrom('0', '1', '2', ''),
  jobstartdate: fc.constantFrom('2024-02-29', ''),
  jobenddate: fc.constantFrom('2024-02-29T10:00:00Z', ''),
  dateofbirth: fc.constantFrom('1999-12-31+01:00', ''),
  culture: fc.constantFrom('en', 'zh-Hant-TW', ''),
  bio: fc.array(line, { minLength: 1, maxLength: 3 }).map((lines) => lines.join('\n\r\t')),
  password: fc.array(line, { maxLength: 3 }).map((lines) => `\r\n ${lines.join('  ')} `),
};
const typed = (...types: string[]) =>
  fc.record({ type: fc.constantFrom(...types), value: line, applyBlank: fc.boolean() });
const leaves = fc.record(
  Object.fromEntries(
    leafNames.map((name) => [
      name,
      name === 'alternateemail'
        ? typed('home', 'mobile')
        : leafOf(special[name] ?? fc.oneof(line, fc.constant(''))),
    ]),
  ),
  { requiredKeys: [] },
);
const parts = fc.record(Object.fromEntries(addressPartNames.map((name) => [name, leafOf(line)])), {
  requiredKeys: [],
});
const membership = fc.oneof(
  fc.record({ ref: line, name: fc.constant('') }),
  fc.record({ type: fc.constantFrom('company', 'security group'), name: line }),
);
const user: fc.Arbitrary<UserRecord> = fc.record(
  {
    line: fc.constant(0),
    id: line,
    username: line,
    leaves,
    phones: fc.array(typed('work', 'home', 'mobile'), { maxLength: 3 }),
    ims: fc.array(typed('chat', 'skype'), { maxLength: 2 }),
    addresses: fc.array(fc.record({ type: fc.constantFrom('home', 'work'), parts }), { maxLength: 2 }),
    groups: fc.array(membership, { maxLength: 3 }),
    additionalfields: fc.array(fc.record({ id: line, value: line, applyBlank: fc.boolean() }), {
      maxLength: 3,
    }),
  },
  { requiredKeys: ['line', 'leaves', 'phones', 'ims', 'addresses', 'additionalfields'] },
);
const group = fc.record(
  {
    line: fc.constant(0),
    id: line,
    type: fc.constantFrom('company', 'department', 'location', 'security group'),
    name: line,
    description: leafOf(line),
  },
  { requiredKeys: ['line', 'id', 'type', 'name'] },
);

describe('writeDocument', () => {
  test('writes what is valid, and what the reader reads back the same', async () => {
    const documents = fc.tuple(
      fc.array(group, { maxLength: 2 }),
      fc.array(user, { minLength: 1, maxLength: 3 }),
    );
    await fc.assert(
      fc.asyncProperty(documents, async ([groups, users]) => {
        const items: ItemToWrite[] = [
          head,
          ...groups.map((record) => ({ kind: 'group' as const, record })),
          ...users.map((record) => ({ kind: 'user' as const, record })),
        ];
        const text = await write(items);
        expect(await validate(text)).toMatchObject({
          valid: true,
          users: users.length,
          groups: groups.length,
        });
        const [first, ...rest] = await read(text);
        expect(first).toMatchObject(head);
        const withoutLines = rest.map((item) =>
          item.kind === 'head' ? item : { kind: item.kind, record: { ...item.record, line: 0 } },
        );
        expect<readonly unknown[]>(withoutLines).toEqual(items.slice(1));
      }),
      { numRuns: 300 },
    );
  });

  test.each(['\u0000', '\u0008', '\u001f', '\ufffe', '\ud800'])(
    'refuses the character %j',
    async (character) => {
      const leafy = { ...bareUser, leaves: { bio: { value: `a${character}b`, applyBlank: false } } };
      await expect(write([head, { kind: 'user', record: leafy }])).rejects.toMatchObject({
        name: 'XmlError',
      });
      const named = { ...bareUser, id: `a${character}b` };
      await expect(write([head, { kind: 'user', record: named }])).rejects.toMatchObject({
        name: 'XmlError',
      });
    },
  );

  test('refuses items out of order, and a document without users', async () => {
    const someone: ItemToWrite = { kind: 'user', record: bareUser };
    const team: ItemToWrite = { kind: 'group', record: { line: 0, id: '1', type: 'company', name: 'A' } };
    for (const items of [[], [head], [head, team], [someone], [head, someone, team], [head, head, someone]]) {
      await expect(write(items)).rejects.toMatchObject({ name: 'XmlError' });
    }
  });
});
