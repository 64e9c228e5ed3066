import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { normaliseResource } from '../../src/resource/normalise.ts';
import { applyPatch } from '../../src/resource/patch.ts';
import type { PatchOperation } from '../../src/resource/patch-operation.ts';
import { enterpriseUserUrn } from '../../src/resource/schema.ts';
import type { ScimObject, ScimValue } from '../../src/resource/value.ts';
import { ann, kindOf, strayError, userType } from './fixtures.ts';

interface Email {
  value?: string;
  type?: string;
  primary?: boolean;
}

/** The part of a user that the model knows, in the plainest form. */
interface Model {
  title?: string;
  givenName?: string;
  familyName?: string;
  department?: string;
  emails: Email[];
}

/** What a step does, told twice: as an operation, and as a change of the model that returns the kind of a refusal. */
interface Step {
  readonly operation: PatchOperation;
  readonly run: (model: Model) => string | undefined;
}

type TextName = 'title' | 'givenName' | 'familyName' | 'department';
const paths: Readonly<Record<TextName, string>> = {
  title: 'title',
  givenName: 'name.givenName',
  familyName: 'NAME.familyname',
  department: `${enterpriseUserUrn}:department`,
};
const texts = fc.constantFrom('x', 'y', 'Z');
const types = fc.constantFrom('work', 'home', 'other');
const emailValues = fc.constantFrom('a@x', 'B@x', 'c@x');

function setText(model: Model, name: TextName, value: string | null): undefined {
  if (value) model[name] = value;
  else delete model[name];
}

const textSteps: fc.Arbitrary<Step> = fc
  .record({
    name: fc.constantFrom<TextName>('title', 'givenName', 'familyName', 'department'),
    op: fc.constantFrom<PatchOperation['op']>('add', 'replace', 'remove'),
    value: fc.oneof(texts, fc.constantFrom('', null)),
  })
  .map(({ name, op, value }) => ({
    operation: op === 'remove' ? { op, path: paths[name] } : { op, path: paths[name], value },
    run: (model) => setText(model, name, op === 'remove' ? null : value),
  }));

const pathlessSteps: fc.Arbitrary<Step> = fc
  .record({
    op: fc.constantFrom<'add' | 'replace'>('add', 'replace'),
    title: texts,
    family: texts,
    department: texts,
  })
  .map(({ op, title, family, department }) => ({
    operation: { op, value: { title, name: { familyName: family }, [enterpriseUserUrn]: { department } } },
    run: (model) => {
      Object.assign(model, { title, familyName: family, department });
      return undefined;
    },
  }));

const emails: fc.Arbitrary<Email> = fc.record(
  { value: emailValues, type: types, primary: fc.boolean() },
  { requiredKeys: ['value'] },
);
const emailLists = fc.array(emails, { maxLength: 3 });

/** Of the elements that an operation marked, one at most may be primary; all others then are not. */
function makePrimary(model: Model, marked: ReadonlySet<Email>): string | undefined {
  const primaries = model.emails.filter((email) => email.primary && marked.has(email));
  if (primaries.length > 1) return 'invalidValue';
  if (primaries.length === 1) {
    for (const email of model.emails) if (email.primary && email !== primaries[0]) email.primary = false;
  }
  return undefined;
}

function isSame(a: Email, b: Email): boolean {
  return a.value?.toLowerCase() === b.value?.toLowerCase() && (a.type ?? '') === (b.type ?? '');
}

const listSteps: fc.Arbitrary<Step> = fc
  .record({ op: fc.constantFrom<'add' | 'replace'>('add', 'replace'), list: emailLists })
  .map(({ op, list }) => ({
    operation: { op, path: 'emails', value: list.map((email) => ({ ...email })) as ScimValue },
    run: (model) => {
      const primaries = list.filter(({ primary }) => primary).length;
      if (op === 'replace') {
        model.emails = list.map((email) => ({ ...email }));
        return primaries > 1 ? 'invalidValue' : undefined;
      }
      const marked = new Set<Email>();
      for (const email of list) {
        // Of several that are the same, the last one that was there or came in is the one.
        const held = model.emails.findLast((each) => isSame(each, email));
        const target = held ?? {};
        if (held === undefined) model.emails.push(target);
        Object.assign(target, email);
        if (email.primary) marked.add(target);
      }
      return makePrimary(model, marked);
    },
  }));

const elementSteps: fc.Arbitrary<Step> = fc
  .record({
    op: fc.constantFrom<PatchOperation['op']>('add', 'replace', 'remove'),
    type: types,
    change: fc.oneof(
      emailValues.map((value): Email => ({ value })),
      fc.boolean().map((primary): Email => ({ primary })),
    ),
  })
  .map(({ op, type, change }) => {
    const [name = '', value = null] = Object.entries(change)[0] ?? [];
    const path = `emails[type eq "${type.toUpperCase()}"].${name}`;
    return {
      operation: op === 'remove' ? { op, path } : { op, path, value },
      run: (model) => {
        const chosen = model.emails.filter((email) => email.type === type);
        if (chosen.length === 0) return op === 'remove' ? undefined : 'noTarget';
        for (const email of chosen) {
          if (op === 'remove') delete email[name as 'value' | 'primary'];
          else Object.assign(email, change);
        }
        model.emails = model.emails.filter((email) => email.value !== undefined);
        return op !== 'remove' && name === 'primary' ? makePrimary(model, new Set(chosen)) : undefined;
      },
    } satisfies Step;
  });

const removeSteps: fc.Arbitrary<Step> = fc.option(types, { nil: undefined }).map((type) => ({
  operation: { op: 'remove', path: type === undefined ? 'emails' : `emails[type eq "${type}"]` },
  run: (model) => {
    model.emails = type === undefined ? [] : model.emails.filter((email) => email.type !== type);
    return undefined;
  },
}));

function toResource(model: Model): ScimObject {
  const { title, givenName, familyName, department, emails: list } = model;
  const body = {
    userName: 'u',
    title,
    name: { givenName, familyName },
    emails: list,
    [enterpriseUserUrn]: { department },
  };
  return normaliseResource(userType, JSON.parse(JSON.stringify(body)), 'create').resource;
}

describe('applyPatch', () => {
  test('does what a naive model does, for any sequence of operations', () => {
    const steps = fc.array(fc.oneof(textSteps, pathlessSteps, listSteps, elementSteps, removeSteps), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(steps, (sequence) => {
        let model: Model = { emails: [] };
        let resource = toResource(model);
        for (const { operation, run } of sequence) {
          const next = structuredClone(model);
          const refused = run(next);
          if (refused !== undefined) {
            expect(kindOf(() => applyPatch(userType, resource, [operation]))).toBe(refused);
            continue;
          }
          resource = applyPatch(userType, resource, [operation]).resource;
          model = next;
          expect(resource).toEqual(toResource(model));
        }
      }),
      { numRuns: 500 },
    );
  });

  test('does the same with all operations at once as with one after the other', () => {
    const steps = fc.array(fc.oneof(textSteps, pathlessSteps, listSteps, removeSteps), { maxLength: 10 });
    fc.assert(
      fc.property(steps, (sequence) => {
        const operations = sequence.map(({ operation }) => operation);
        let oneByOne: ScimObject = ann;
        for (const each of operations) {
          if (strayOrRefused(() => applyPatch(userType, oneByOne, [each]))) {
            expect(kindOf(() => applyPatch(userType, ann, operations))).toBe('invalidValue');
            return;
          }
          oneByOne = applyPatch(userType, oneByOne, [each]).resource;
        }
        expect(applyPatch(userType, ann, operations).resource).toEqual(oneByOne);
      }),
    );
  });

  test('gives a resource that reads back as itself, or a refusal, for any operation', () => {
    const path = fc.constantFrom(
      ...[
        'title',
        'name',
        'name.givenName',
        'emails',
        'emails[type eq "work"]',
        'emails.value',
        'emails[primary eq true].value',
      ],
      ...[
        'id',
        'groups',
        'meta',
        'schemas',
        'password',
        'userName',
        'active',
        'members',
        '__proto__',
        'constructor.prototype',
      ],
      ...[
        enterpriseUserUrn,
        `${enterpriseUserUrn}:manager`,
        `${enterpriseUserUrn}:manager.value`,
        'x509Certificates',
      ],
    );
    const keys = fc.constantFrom(
      'value',
      'type',
      'primary',
      'givenName',
      '__proto__',
      'constructor',
      'toString',
      'emails',
      'TITLE',
    );
    const value = fc.oneof(
      fc.jsonValue() as fc.Arbitrary<ScimValue>,
      fc.dictionary(keys, fc.oneof(texts, fc.boolean(), fc.constant(null))),
      fc.array(fc.dictionary(keys, fc.oneof(texts, fc.boolean())), { maxLength: 3 }),
    );
    const op = fc.constantFrom<PatchOperation['op']>('add', 'replace', 'remove');
    const operations = fc.array(fc.record({ op, path, value }, { requiredKeys: ['op'] }), { maxLength: 5 });
    const before = structuredClone(ann);
    const canary = Object.getOwnPropertyNames(Object.prototype);
    fc.assert(
      fc.property(operations, fc.boolean(), (list, compat) => {
        const options = { createForValuePath: compat, bareExtensionNames: compat };
        expect(strayError(() => applyPatch(userType, ann, list, options))).toBeUndefined();
        expect(ann).toEqual(before);
        expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(canary);
        if (strayOrRefused(() => applyPatch(userType, ann, list, options))) return;
        const { resource } = applyPatch(userType, ann, list, options);
        const { id: _id, groups: _groups, ...own } = resource;
        expect(normaliseResource(userType, resource, 'create').resource).toEqual(own);
      }),
      { numRuns: 1000 },
    );
  });
});

function strayOrRefused(action: () => unknown): boolean {
  try {
    action();
    return false;
  } catch {
    return true;
  }
}
