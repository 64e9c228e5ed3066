import { describe, expect, test } from 'bun:test';
import { SaxesParser } from 'saxes';
import { optionRules } from '../../src/xml/options.ts';
import { profileSchemaText } from '../../src/xml/profile-schema.ts';
import { documentOf, plainUser, readingError, refusal, validate } from './support.ts';

function withOptions(...options: readonly (readonly [string, string])[]): string {
  const lines = options.map(([name, value]) => `\n  <option name="${name}">${value}</option>`).join('');
  return documentOf(plainUser, { head: `<syncoptions domain="a" ldapid="1">${lines}</syncoptions>` });
}

describe('options', () => {
  const wrong: readonly (readonly [string, string])[] = [
    ['actionDisabledUsers', 'q'],
    ['actionDisabledUsers', 'D'],
    ['actionMissingDeletedUsers', ''],
    ['mode', 'dleta'],
    ['mode', 'Delta'],
    ['syncManagers', 'yes'],
    ['loginType', '3'],
    ['defaultCulture', 'English!'],
    ['defaultCompany', ''],
    ['newUserPasswordBehaviour', 'File'],
  ];

  test.each(wrong)('refuses %s with the value "%s", with line and column', async (name, value) => {
    const text = withOptions(['syncGroups', 'true'], [name, value]);
    const place = { kind: 'schema', line: 3, column: 3, path: '/syncdata/syncoptions/option' } as const;
    expect(await refusal(text)).toMatchObject(place);
    expect(await readingError(text)).toMatchObject(place);
    expect((await refusal(text)).message).toContain(`'${name}'`);
  });

  test('are all judged, beside what the schema finds', async () => {
    const text = withOptions(['mode', 'x'], ['loginType', '9']).replace('<additionalfields />', '<foo/>');
    const result = await validate(text);
    if (result.valid) throw new Error('The document was accepted.');
    expect(result.errors.map(({ line, path }) => `${line} ${path}`)).toEqual([
      '2 /syncdata/syncoptions/option',
      '3 /syncdata/syncoptions/option',
      '3 /syncdata/users/user[1]/foo',
    ]);
  });

  test('accepts unknown ones, and names them for the log', async () => {
    const result = await validate(withOptions(['futureThing', 'whatever'], ['mode', 'delta']));
    expect(result).toMatchObject({
      valid: true,
      warnings: ["The option 'futureThing' is not known and has no effect."],
    });
  });

  test('refuses a known one in other letters, which would silently not apply', async () => {
    expect((await refusal(withOptions(['Mode', 'delta']))).message).toContain("must be written 'mode'");
  });

  test('refuses a known one given twice', async () => {
    expect((await refusal(withOptions(['mode', 'full'], ['mode', 'delta']))).message).toContain(
      'more than once',
    );
  });

  test('takes either spelling of ldapid, and refuses none and two that differ', async () => {
    const text = withOptions(['mode', 'full']);
    expect(await validate(text.replace('ldapid', 'ldapId'))).toMatchObject({ valid: true, ldapid: '1' });
    expect(await validate(text.replace('ldapid="1"', 'ldapid="1" ldapId="1"'))).toMatchObject({
      valid: true,
    });
    expect((await refusal(text.replace('ldapid="1"', ''))).message).toContain("'ldapid' is required");
    expect((await refusal(text.replace('ldapid="1"', 'ldapid="1" ldapId="2"'))).message).toContain('differ');
  });
});

interface SchemaType {
  readonly base: string;
  readonly values: readonly string[];
}

/** The simple types of the schema, and the elements, attributes and enumerations without documentation. */
function readSchema(): { types: Map<string, SchemaType>; undocumented: string[]; names: Set<string> } {
  const types = new Map<string, { base: string; values: string[] }>();
  const undocumented: string[] = [];
  const names = new Set<string>();
  const open: { name: string; label: string; isDocumented: boolean }[] = [];
  let type: { base: string; values: string[] } | undefined;
  const parser = new SaxesParser({ xmlns: false } as const);
  parser.on('opentag', ({ name, attributes }) => {
    names.add(name);
    const label = `${name} ${attributes.name ?? attributes.value ?? ''}`;
    open.push({ name, label, isDocumented: false });
    if (name === 'xs:simpleType') type = { base: '', values: [] };
    if (name === 'xs:simpleType' && type !== undefined) types.set(attributes.name ?? '', type);
    if (name === 'xs:restriction' && type !== undefined) type.base = attributes.base ?? '';
    if (name === 'xs:enumeration') type?.values.push(attributes.value ?? '');
  });
  parser.on('text', (text) => {
    const owner = open.at(-3);
    if (open.at(-1)?.name === 'xs:documentation' && text.trim() !== '' && owner) owner.isDocumented = true;
  });
  parser.on('closetag', () => {
    const closed = open.pop();
    const needed = ['xs:element', 'xs:attribute', 'xs:enumeration', 'xs:simpleType', 'xs:complexType'];
    if (closed && needed.includes(closed.name) && !closed.isDocumented) undocumented.push(closed.label);
  });
  parser.write(profileSchemaText).close();
  return { types, undocumented, names };
}

describe('profile-sync.xsd', () => {
  const { types, undocumented, names } = readSchema();

  test('has a type for each known option, with the same values', () => {
    const inSchema = [...types.keys()].filter((name) => name.startsWith('option-'));
    expect(inSchema.map((name) => name.slice('option-'.length)).sort()).toEqual(
      [...optionRules.keys()].sort(),
    );
    for (const [name, rule] of optionRules) {
      const type = types.get(`option-${name}`);
      const values = type?.values.length === 0 ? (types.get(type.base)?.values ?? []) : (type?.values ?? []);
      expect([name, ...values]).toEqual([name, ...(Array.isArray(rule) ? rule : [])]);
    }
  });

  test('documents every element, attribute, type and enumeration', () => {
    expect(undocumented).toEqual([]);
  });

  test('has no identity constraints, imports or includes', () => {
    const forbidden = ['key', 'keyref', 'unique', 'import', 'include', 'redefine', 'any', 'anyAttribute'];
    expect(forbidden.filter((name) => names.has(`xs:${name}`))).toEqual([]);
  });
});
