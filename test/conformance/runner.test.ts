import { describe, expect, test } from 'bun:test';
import { openTestApp } from '../support/app.ts';
import { configurationCases } from './configuration-cases.ts';
import type { Conversation, Step } from './exchange.ts';
import { readConversations, shownRows } from './exchange.ts';
import { expand } from './expand.ts';
import { at, mismatch } from './match.ts';
import { replay } from './replay.ts';
import { rows } from './rows.ts';

describe('mismatch', () => {
  test.each([
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: { b: ['x'] } }, { a: { b: ['x'], c: 1 } }],
    [
      [{}, {}],
      [{ a: 1 }, { b: 2 }],
    ],
    [{ a: { $match: '^x' } }, { a: 'xyz' }],
    [null, null],
  ])('finds %j in %j', (wanted, actual) => {
    expect(mismatch(wanted, actual)).toEqual([]);
  });

  test.each([
    [{ a: 1 }, { a: '1' }],
    [{ a: 1 }, {}],
    [{ a: 1 }, []],
    [{ toString: {} }, {}],
    [['x'], ['x', 'y']],
    [[], undefined],
    [{ a: { $match: '^x' } }, { a: 'yx' }],
    [{ a: { $match: '.' } }, { a: 5 }],
    [null, undefined],
  ])('does not find %j in %j', (wanted, actual) => {
    expect(mismatch(wanted, actual)).toHaveLength(1);
  });
});

describe('at', () => {
  test('follows a JSON pointer through objects, lists and schema URNs', () => {
    const body = { 'urn:a:2.0:User': { x: [{ y: 'z' }] }, 'a/b': 1 };
    expect(at(body, '/urn:a:2.0:User/x/0/y')).toBe('z');
    expect(at(body, '/a~1b')).toBe(1);
    for (const pointer of ['/x', '/urn:a:2.0:User/x/1', '/toString', '/a~1b/c'])
      expect(at(body, pointer)).toBeUndefined();
  });
});

/** How a conversation writes a variable. */
const variable = (name: string) => `$\{${name}}`;

describe('expand', () => {
  test('fills variables into every text, inner ones first', () => {
    const variables = new Map([
      ['index', '2'],
      ['user2', '77'],
    ]);
    expect(
      expand(
        { path: `/Users/${variable(`user${variable('index')}`)}`, list: [variable('index'), 1, null] },
        variables,
      ),
    ).toEqual({
      path: '/Users/77',
      list: ['2', 1, null],
    });
    expect(() => expand(variable('nobody'), variables)).toThrow('nothing was captured');
  });
});

describe('replay', () => {
  const conversation = (step: Partial<Step>): Conversation => ({
    name: 'test/one',
    about: '',
    shows: [],
    settings: {},
    headers: {},
    steps: [{ name: 'lists', request: { method: 'GET', path: '/Users' }, expect: { status: 200 }, ...step }],
  });

  test.each([
    ['status 200 instead of 201', { expect: { status: 201 } }],
    ['/totalResults is 0 instead of 1', { expect: { status: 200, body: { totalResults: 1 } } }],
    ['/Resources should not be there', { expect: { status: 200, absent: ['/Resources'] } }],
    ['the answer has a body', { expect: { status: 200, empty: true } }],
    ['header etag is absent', { expect: { status: 200, headers: { etag: 'x' } } }],
    ['nothing at /id', { capture: { user: '/id' } }],
  ] as const)('stops with "%s"', async (sentence, step) => {
    await using app = await openTestApp();
    await expect(replay(conversation(step), app)).rejects.toThrow(sentence);
  });

  test('names the conversation, the step and the request', async () => {
    await using app = await openTestApp();
    const failing = replay(conversation({ expect: { status: 201 } }), app);
    await expect(failing).rejects.toThrow('test/one, "lists": GET /Users');
  });
});

describe('the conversations and cases', () => {
  const shown = [
    ...readConversations().flatMap(shownRows),
    ...configurationCases.flatMap((each) => each.shows),
  ];

  test('show every row that there is', () => {
    expect(rows.filter((row) => !shown.includes(row))).toEqual([]);
  });

  test('name no row that there is not, and each row has one name', () => {
    expect(shown.filter((row) => !rows.includes(row))).toEqual([]);
    expect(rows.length).toBe(new Set(rows).size);
  });
});
