import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connector } from '../../connectors/ldap/ldap.ts';
import type { Group, User } from '../../src/connectors/contract.ts';
import { connectorContext, readAll } from '../support/connector-context.ts';
import { type Slapd, slapdPath, startSlapd } from '../support/slapd.ts';
import { type Answer, type Question, serveLdap } from './ldap-server.ts';

const peopleCount = 10_000;
const root = 'dc=example,dc=com';
const hosts = { 'ldap.test': '127.0.0.1', 'other.test': '127.0.0.1' };

function unit(name: string): string {
  return `dn: ou=${name},${root}\nobjectClass: organizationalUnit\nou: ${name}\n`;
}

function person(number: number): string {
  const manager = number === 0 ? '' : `manager: UID=U${Math.floor(number / 10)}, OU=people, ${root}\n`;
  return `dn: uid=u${number},ou=people,${root}
objectClass: inetOrgPerson
uid: u${number}
cn: Person ${number}
sn: Number ${number}
givenName: Jörg
mail: u${number}@example.com
mail: second${number}@example.com
${number % 100 === 7 ? 'employeeType: Left\n' : ''}${manager}`;
}

function group(name: string, members: readonly string[], type = 'groupOfNames'): string {
  const attribute = type === 'groupOfUniqueNames' ? 'uniqueMember' : 'member';
  return `dn: cn=${name},ou=groups,${root}\nobjectClass: ${type}\ncn: ${name}\n${members.map((each) => `${attribute}: ${each}\n`).join('')}`;
}

const uid = (number: number) => `uid=u${number},ou=people,${root}`;

function data(): string {
  const numbers = Array.from({ length: peopleCount }, (_, number) => number);
  const groups = [
    group('inner', [uid(1), uid(2), `cn=ring,ou=groups,${root}`]),
    group('outer', [`cn=inner,ou=groups,${root}`, uid(3)]),
    group('ring', [`cn=outer,ou=groups,${root}`]),
    group('unique', [`${uid(4)}#'0101'B`], 'groupOfUniqueNames'),
    group('everybody', numbers.map(uid)),
    `dn: cn=unix,ou=groups,${root}\nobjectClass: posixGroup\ncn: unix\ngidNumber: 7\nmemberUid: u5\n`,
  ];
  const elsewhere = `dn: ou=branch,ou=split,${root}\nobjectClass: referral\nobjectClass: extensibleObject\nou: branch\nref: ldap://elsewhere.test/ou=branch\n`;
  const units = ['people', 'groups', 'split', 'empty', 'hidden'].map(unit);
  return [...units, elsewhere, ...numbers.map(person), ...groups].join('\n');
}

const path = slapdPath();
describe.skipIf(path === undefined)('ldap with OpenLDAP', () => {
  let slapd: Slapd;
  beforeAll(async () => {
    slapd = await startSlapd(path ?? '', data());
  });
  afterAll(() => slapd?.stop());

  const config = (over: object = {}) => ({
    product: 'openldap',
    host: 'ldap.test',
    port: slapd.port,
    caCertificate: slapd.ca,
    ...slapd.reader,
    userBaseDns: [`ou=people,${root}`],
    ...over,
  });
  const read = (over?: object) => readAll(connector, config(over), { hosts });
  const tryOut = async (over?: object) =>
    connector.test(await connectorContext(connector, config(over), { hosts }));

  test('reads ten thousand people in pages, with managers as ids and nested groups', async () => {
    const records = await read({ groupBaseDns: [`ou=groups,${root}`], pageSize: 300 });
    const groups = records.filter((each): each is Group => each.kind === 'group');
    const users = new Map(
      records.flatMap((each) => (each.kind === 'user' ? [[each.username, each as User]] : [])),
    );
    expect(groups.map(({ name, type }) => `${type} ${name}`).sort()).toEqual(
      ['everybody', 'inner', 'outer', 'ring', 'unique', 'unix'].map((name) => `security group ${name}`),
    );
    expect(users.size).toBe(peopleCount);
    expect(users.get('u57')?.manager).toBe(users.get('u5')?.id);
    expect(users.get('u0')?.manager).toBeNull();
    const names = new Map(groups.map(({ id, name }) => [id, name]));
    const groupsOf = (name: string) =>
      users
        .get(name)
        ?.groups?.map((each) => names.get(each as string) ?? 'unknown')
        .sort();
    expect(groupsOf('u1')).toEqual(['everybody', 'inner', 'outer', 'ring']);
    expect(groupsOf('u3')).toEqual(['everybody', 'inner', 'outer', 'ring']);
    expect(groupsOf('u4')).toEqual(['everybody', 'unique']);
    expect(groupsOf('u5')).toEqual(['everybody', 'unix']);
    expect(records.findIndex(({ kind }) => kind === 'user')).toBe(groups.length);
    expect(users.get('u9')).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      active: 'true',
      firstname: 'Jörg',
      displayname: 'Person 9',
      email: 'u9@example.com',
    });
  });

  test('reads direct groups only when nested ones are not wanted', async () => {
    const over = {
      groupBaseDns: [`ou=groups,${root}`],
      nestedGroups: false,
      userFilter: '(|(uid=u1)(uid=u3))',
    };
    const records = await read({ ...over, groupFilter: '(&(objectClass=groupOfNames)(!(cn=everybody)))' });
    const users = records.filter((each): each is User => each.kind === 'user');
    expect(users.map(({ groups }) => groups?.length)).toEqual([1, 1]);
  });

  test('leaves memberships alone without a base for groups', async () => {
    const [user] = (await read({ userFilter: '(uid=u1)' })) as User[];
    expect(user).not.toHaveProperty('groups');
  });

  test('finds each person once below bases that lie in each other', async () => {
    const userBaseDns = [`OU=People, ${root}`, `${uid(1)}`, `ou=people,${root}`];
    const records = (await read({ userBaseDns, userFilter: '(|(uid=u1)(uid=u2))' })) as User[];
    expect(records.map(({ username }) => username)).toEqual(['u1', 'u2']);
  });

  test('takes who is not active from an attribute of choice', async () => {
    const inactiveWhen = { attribute: 'EMPLOYEETYPE', values: ['left'] };
    const users = (await read({ inactiveWhen, userFilter: '(|(uid=u7)(uid=u8))' })) as User[];
    expect(users.map(({ username, active }) => [username, active])).toEqual([
      ['u7', 'false'],
      ['u8', 'true'],
    ]);
    const any = { attribute: 'employeeType' };
    const [user] = (await read({ inactiveWhen: any, userFilter: '(uid=u7)' })) as User[];
    expect(user?.active).toBe('false');
  });

  test('maps any attribute, a list as a list, and counts a manager outside the search as none', async () => {
    const mapping = { user: { bio: { template: '{mail[1]} {dn}' }, title: 'employeetype' } };
    const [user] = (await read({ mapping, userFilter: '(uid=u7)' })) as User[];
    expect(user).toMatchObject({
      bio: `second7@example.com ${uid(7)}`,
      title: 'Left',
      manager: null,
    });
  });

  test('connects by StartTLS, by LDAPS and without TLS, and says what it found', async () => {
    const found = `as cn=reader,${root}; the search of people finds ${uid(0)} first.`;
    expect(await tryOut()).toBe(`Connected to ldap.test by StartTLS ${found}`);
    const ldaps = { encryption: 'ldaps', port: slapd.tlsPort };
    expect(await tryOut(ldaps)).toBe(`Connected to ldap.test by LDAPS ${found}`);
    expect(await tryOut({ encryption: 'none' })).toBe(`Connected to ldap.test unencrypted ${found}`);
    const groups = await tryOut({ groupBaseDns: [`ou=groups,${root}`], userBaseDns: [`ou=empty,${root}`] });
    expect(groups).toContain('people finds nobody; the search of groups finds cn=inner');
  });

  test('asks anonymously without a bind DN, and never with half of one', async () => {
    const nobody = { bindDn: undefined, password: undefined };
    expect(await tryOut(nobody)).toContain('as nobody in particular');
    await expect(tryOut({ password: undefined })).rejects.toThrow(
      'Give both bindDn and password, or neither',
    );
    await expect(tryOut({ bindDn: undefined })).rejects.toThrow('Give both bindDn and password, or neither');
  });

  test.each([
    [{ password: 'not-it' }, 'the name or the password is wrong. Check bindDn and password.'],
    [{ host: 'other.test' }, 'its certificate is for another name'],
    [{ caCertificate: undefined }, 'its certificate is not trusted. Put the certificate of the authority'],
    [{ caCertificate: 'not a certificate' }, 'is not PEM'],
    [{ caFile: '/nowhere' }, 'Give caCertificate or caFile, not both.'],
    [{ caCertificate: undefined, caFile: '/nowhere' }, 'The file /nowhere (caFile) cannot be read.'],
    [{ host: '169.254.169.254' }, 'may not ask'],
    [{ port: 1 }, 'nothing listens there'],
    [{ encryption: 'ldaps' }, 'ldap.test:'],
    [{ userBaseDns: [`ou=nowhere,${root}`] }, 'there is no such entry'],
    [{ userBaseDns: ['nowhere'] }, 'this is not a distinguished name'],
    [{ userFilter: '(uid=' }, '"(uid=" is not an LDAP filter'],
  ] as const)('says in one sentence what is wrong with %j', async (over, sentence) => {
    const failed = await tryOut(over).then(String, (error: Error) => error.message);
    expect(failed).toContain(sentence);
    expect(failed).not.toContain(slapd.reader.password);
    expect(failed).not.toContain('not-it');
  });

  test('fails when it sees a part only: at the size limit, at a referral, and where nothing may be read', async () => {
    await expect(read({ ...slapd.limited })).rejects.toThrow('its size limit was reached');
    await expect(read({ ...slapd.limited, pageSize: 0 })).rejects.toThrow('its size limit was reached');
    await expect(read({ userBaseDns: [root], userFilter: '(uid=u1)' })).rejects.toThrow(
      'refers to other servers',
    );
    const [user] = (await read({
      userBaseDns: [root],
      userFilter: '(uid=u1)',
      ignoreReferrals: true,
    })) as User[];
    expect(user?.username).toBe('u1');
    await expect(read({ userBaseDns: [`ou=hidden,${root}`] })).rejects.toThrow(
      'no such entry, or the bind account',
    );
  });

  test('fails when the search finds nobody, or no group', async () => {
    await expect(read({ userBaseDns: [`ou=empty,${root}`] })).rejects.toThrow('The search finds nobody');
    await expect(read({ groupBaseDns: [`ou=empty,${root}`] })).rejects.toThrow('The search finds no group');
  });

  test('stops in the middle of a search when the run is cancelled', async () => {
    const controller = new AbortController();
    const context = await connectorContext(connector, config({ pageSize: 0 }), {
      hosts,
      signal: controller.signal,
    });
    let count = 0;
    const reading = (async () => {
      for await (const _ of connector.read(context)) {
        count += 1;
        if (count === 10) controller.abort(new Error('cancelled by a person'));
      }
    })();
    await expect(reading).rejects.toThrow('cancelled by a person');
    expect(count).toBeLessThan(peopleCount);
  });

  test('warns when password and people can be read on the way', async () => {
    const context = await connectorContext(connector, config({ encryption: 'none' }), { hosts });
    await connector.test(context);
    expect(context.lines.join()).toContain('The connection is not encrypted');
  });

  test('says that the directory wants encryption', async () => {
    await using strict = await startSlapd(path ?? '', unit('people'), 'security simple_bind=64');
    const over = { ...strict.reader, port: strict.port, encryption: 'none' };
    await expect(tryOut(over)).rejects.toThrow('it wants an encrypted connection');
    expect(await tryOut({ ...over, encryption: 'starttls', caCertificate: strict.ca })).toContain(
      'finds nobody',
    );
  });
});

describe('ldap with Active Directory', () => {
  const guid = (last: number) => Uint8Array.from([...Array<number>(15).fill(0), last]);
  const entry = (name: string, attributes: Answer['entries'] extends undefined ? never : object) => ({
    dn: `CN=${name},DC=corp,DC=test`,
    attributes: { ...attributes } as Readonly<Record<string, readonly (string | Uint8Array)[]>>,
  });
  const config = (port: number, over: object = {}) => ({
    host: '127.0.0.1',
    port,
    encryption: 'none',
    userBaseDns: ['DC=corp,DC=test'],
    ...over,
  });
  const answering = (search: (question: Question, number: number) => Answer) => {
    let number = 0;
    return serveLdap((question) => (question.kind === 'search' ? search(question, number++) : {}));
  };
  const ann = entry('Ann', { objectGUID: [guid(1)], sAMAccountName: ['ann'], userAccountControl: ['514'] });
  const bob = entry('Bob', {
    objectGUID: [guid(2)],
    sAMAccountName: ['bob'],
    userAccountControl: ['512'],
    manager: ['cn=ann,dc=corp,dc=test'],
  });

  test('reads GUIDs as ids, the disabled bit, and members that come in ranges', async () => {
    const dn = (number: number) => `CN=P${number},DC=corp,DC=test`;
    const members: Record<string, readonly string[]> = {
      'member;range=0-1': [dn(1), 'CN=Ann,DC=corp,DC=test'],
      'member;range=2-3': [dn(2), dn(3)],
      'member;range=4-*': ['CN=Bob,DC=corp,DC=test'],
    };
    const piece = (name: string) => ({ [name]: members[name] ?? [] });
    using server = await answering(({ base, attributes }) => {
      if (base.startsWith('OU=')) {
        const group = { objectGUID: [guid(9)], cn: ['Big'], member: [], ...piece('member;range=0-1') };
        return { entries: [entry('Big', group)] };
      }
      if (base.startsWith('CN=Big')) {
        const name = Object.keys(members).find((each) => each.startsWith(`${attributes[0]?.split('-')[0]}-`));
        return { entries: [entry('Big', piece(name ?? ''))] };
      }
      return { entries: [ann, bob] };
    });
    const over = { groupBaseDns: ['OU=groups,DC=corp,DC=test'] };
    const records = await readAll(connector, config(server.port, over));
    const id = '00000000-0000-0000-0000-0000000000';
    expect(records).toMatchObject([
      { kind: 'group', id: `${id}09`, name: 'Big' },
      { id: `${id}01`, username: 'ann', active: 'false', manager: null, groups: [`${id}09`] },
      { id: `${id}02`, username: 'bob', active: 'true', manager: `${id}01`, groups: [`${id}09`] },
    ]);
    expect(server.questions.map(({ attributes }) => attributes[0])).toContain('member;range=4-*');
  });

  test('fails when the rest of a range does not come', async () => {
    using server = await answering(({ base }) =>
      base.startsWith('CN=Big')
        ? {}
        : { entries: [entry('Big', { objectGUID: [guid(9)], cn: ['Big'], 'member;range=0-0': ['CN=x'] })] },
    );
    const reading = readAll(connector, config(server.port, { groupBaseDns: ['DC=corp,DC=test'] }));
    await expect(reading).rejects.toThrow('does not give the rest of the members of CN=Big,DC=corp,DC=test');
  });

  test('goes on after an empty page that has a cookie', async () => {
    using server = await answering((_, number) => {
      const pages: readonly Answer[] = [
        { entries: [ann], cookie: 'a' },
        { cookie: 'b' },
        { entries: [bob], cookie: '' },
      ];
      return pages[number % 3] ?? {};
    });
    const users = (await readAll(connector, config(server.port))) as User[];
    expect(users.map(({ username }) => username)).toEqual(['ann', 'bob']);
  });

  test('gives up on empty pages without end', async () => {
    using server = await answering(() => ({ cookie: 'again' }));
    await expect(readAll(connector, config(server.port))).rejects.toThrow('one empty page after the other');
  });

  test.each([
    ['a referral', { code: 10 }, 'it refers to other servers'],
    ['a continuation reference', { entries: [], references: 1 }, 'it refers to other servers'],
    ['a time limit', { code: 3 }, 'its time limit was reached'],
    ['a server that cannot page', { code: 12 }, 'Set pageSize to 0'],
    ['an unknown code', { code: 99 }, 'it answers with the result code 99'],
    ['a closed connection', { raw: 'close' }, 'the connection was closed by the other side'],
    ['rubbish', { raw: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n') }, 'what is not LDAP'],
    ['an endless message', { raw: Buffer.from('3084ffffffff', 'hex') }, 'what is not LDAP'],
    [
      'a length beyond the message',
      { raw: Buffer.from('300b02010264060401610434ff', 'hex') },
      'what is not LDAP',
    ],
    [
      'a notice of disconnection',
      { raw: Buffer.from('300c02010078070a013404000400', 'hex') },
      'it closes the connection',
    ],
  ] as const)('takes %s for a failure', async (_, answer, sentence) => {
    using server = await answering(() => answer as Answer);
    await expect(readAll(connector, config(server.port))).rejects.toThrow(sentence);
  });

  test('says what Active Directory says about an account', async () => {
    const text = '80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data 775, v1db1';
    using server = await serveLdap(() => ({ code: 49, text }));
    const over = { bindDn: 'reader@corp.test', password: 'secret-word' };
    await expect(readAll(connector, config(server.port, over))).rejects.toThrow('the account is locked.');
  });

  test('ends a search that the server does not answer when the run is cancelled', async () => {
    const asked = Promise.withResolvers<void>();
    using server = await answering(() => {
      asked.resolve();
      return { raw: 'nothing' };
    });
    const controller = new AbortController();
    const reading = readAll(connector, config(server.port), { signal: controller.signal });
    await asked.promise;
    controller.abort(new Error('cancelled by a person'));
    await expect(reading).rejects.toThrow('cancelled by a person');
  });
});
