import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { connector } from '../../../connectors/sql/sql.ts';
import { openKind, readAll, refusalOf } from '../kind-context.ts';
import { type Engine, engines, openSource, type SqlSource } from './databases.ts';

/** What an engine calls a type or function, in the order SQLite, PostgreSQL, MariaDB. */
function said(engine: Engine, sqlite: string, postgres: string, mysql: string): string {
  return { sqlite, postgres, mysql }[engine];
}

describe.each(engines())('sql, on %s', (engine) => {
  let source: SqlSource;
  const config = (more: object) => ({ ...source.config, ...more });
  const read = (more: object) => readAll(connector, config(more));
  const refusal = (more: object) => refusalOf(() => read(more));

  beforeAll(async () => {
    source = await openSource(engine);
    await source.run(
      `create table person (id ${said(engine, 'integer', 'bigint', 'bigint')} primary key, name varchar(100), boss bigint)`,
      "insert into person values (9007199254740993, 'Åse 😀', null), (2, null, 9007199254740993)",
      'create table team (id varchar(10), name varchar(50), kind varchar(20))',
      "insert into team values ('t1', 'Sales', 'Department'), ('t2', 'Editors', null)",
      'create table member (person bigint, team varchar(10))',
      "insert into member values (2, 't1'), (2, 't2'), (77, 't1')",
      `create table many (id integer, bio varchar(200))`,
      `insert into many ${said(
        engine,
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) select i, 'x' from n",
        "select i, 'x' from generate_series(1, 3000) as i",
        "select seq, 'x' from seq_1_to_3000",
      )}`,
    );
  });
  afterAll(() => source[Symbol.asyncDispose]());

  test('reads columns that are called like attributes without a mapping', async () => {
    const { users, log } = await read({
      users: 'select id, name as displayname, 1 as userType, boss as manager from person order by id',
    });
    expect(users).toEqual([
      { kind: 'user', id: '2', userType: '1', manager: '9007199254740993' },
      { kind: 'user', id: '9007199254740993', userType: '1', displayname: 'Åse 😀' },
    ]);
    expect(log[0]).toStartWith('info: Read 2 people from ');
  });

  test('reads groups and memberships', async () => {
    const { groups, users, log } = await read({
      users: 'select id from person order by id;',
      groups: 'select id, name, kind as type from team order by id',
      memberships: 'select person, team from member order by team',
    });
    expect(groups).toEqual([
      { kind: 'group', id: 't1', type: 'department', name: 'Sales' },
      { kind: 'group', id: 't2', type: 'security group', name: 'Editors' },
    ]);
    expect(users.map((user) => user.groups)).toEqual([['t1', 't2'], []]);
    expect(log[0]).toContain('The memberships name one person whom the source does not have');
  });

  test('reads more rows than one batch has, each once', async () => {
    const { users } = await read({ users: 'select id, bio from many order by id' });
    expect(users.map(({ id }) => Number(id))).toEqual(Array.from({ length: 3_000 }, (_, at) => at + 1));
  });

  test('yields nobody for a query without rows', async () => {
    expect((await read({ users: 'select id from person where id < 0' })).users).toEqual([]);
  });

  test('refuses what is no query, and shows where', async () => {
    const sentence = await refusal({ users: 'select id\nfrom person\nwher id = 1' });
    expect(sentence).toStartWith('The query for people is not accepted');
    expect(sentence).toContain(
      said(engine, 'line 3, character 6 (id)', 'line 3, character 6 (id)', 'line 3'),
    );
    expect(await refusal({ users: 'select nope from person' })).toContain('nope');
    expect(await refusal({ users: 'select id from nowhere' })).toContain('nowhere');
  });

  test('refuses a statement that writes, and nothing is written', async () => {
    for (const users of [
      'delete from person',
      'update person set name = 1',
      'drop table person',
      'create table mine (id integer)',
      'insert into person values (5, null, null)',
    ])
      expect(await refusal({ users })).toMatch(/may only read|gives no columns/);
    expect((await read({ users: 'select id from person' })).users).toHaveLength(2);
  });

  test('refuses more than one statement', async () => {
    const sentence = await refusal({ users: "select id from person where name <> ';'; delete from person" });
    expect(sentence).toMatch(/more than one statement|multiple commands|not accepted.*delete from person/);
    expect(
      (await read({ users: "select id from person where name <> ';' or 1 = 1 -- ; all" })).users,
    ).toHaveLength(2);
  });

  test('refuses a statement that gives no columns', async () => {
    const users = said(engine, 'pragma foreign_keys = on', "set datestyle = 'ISO'", 'set @a = 1');
    expect(await refusal({ users })).toBe('The query for people gives no columns: it has to be one SELECT.');
  });

  test('refuses two columns of one name', async () => {
    expect(await refusal({ users: 'select id, name as id from person' })).toBe(
      'The query for people gives the column "id" twice; name one of them differently with AS.',
    );
  });

  test('refuses a mapping that names a column which the query does not give', async () => {
    expect(
      await refusal({ users: 'select id, name from person', mapping: { user: { email: 'mail' } } }),
    ).toBe(
      'The query for people has no column "mail", from which email is taken. Its columns are: id, name.',
    );
    expect(
      await refusal({
        users: 'select id from person',
        groups: 'select id, name from team',
        mapping: { group: { name: 'title' } },
      }),
    ).toStartWith('The query for groups has no column "title"');
    expect(
      await refusal({ users: 'select id from person', memberships: 'select person from member' }),
    ).toContain('has to give two columns');
  });

  test('finds columns of any name', async () => {
    const name = said(engine, '"__proto__"', '"__proto__"', '`E-mail [work]`');
    const column = name.slice(1, -1);
    const { users } = await read({
      users: `select 1 as id, 'x' as ${name}`,
      mapping: { user: { title: column } },
    });
    expect(users).toEqual([{ kind: 'user', id: '1', title: 'x' }]);
    expect(await refusal({ users: 'select 1 as id', mapping: { user: { title: 'constructor' } } })).toContain(
      'has no column "constructor"',
    );
  });

  test('ends when it is cancelled, in the middle of the rows', async () => {
    const { context, abort } = await openKind(connector, config({ users: 'select id from many' }));
    let count = 0;
    const reading = async () => {
      for await (const _ of connector.read(context)) {
        count += 1;
        if (count === 1) abort.abort(new Error('The run was cancelled.'));
      }
    };
    expect(await refusalOf(reading)).toBe('The run was cancelled.');
    expect(count).toBeLessThan(3_000);
  });

  test('tells what it found, and no value of anybody', async () => {
    const { context } = await openKind(
      connector,
      config({
        users: 'select id, name, boss from person order by id desc',
        groups: 'select id, name from team where 1 = 0',
        memberships: 'select person, team from member',
        mapping: { user: { displayname: 'name' } },
      }),
    );
    const sentence = await connector.test(context);
    expect(sentence).toMatch(/^Connected to (SQLite file|PostgreSQL \d+\.\d+ at|MariaDB \d+\.\d+\.\d+ at) /);
    expect(sentence).toEndWith(
      'The query for people gives the columns id, name, boss; its first row gives id, displayname. ' +
        'The query for groups gives the columns id, name, and no rows. ' +
        'The query for memberships gives the columns person, team.',
    );
  });
});

describe.each(engines().filter((engine) => engine !== 'sqlite'))('sql, at a server of %s', (engine) => {
  let source: SqlSource;
  beforeAll(async () => {
    source = await openSource(engine);
  });
  afterAll(() => source[Symbol.asyncDispose]());

  const refusal = (more: object) =>
    refusalOf(() => readAll(connector, { ...source.config, users: 'select 1 as id', ...more }));
  const refusals = async (more: object) => {
    const given = { ...source.config, users: 'select 1 as id', ...more };
    const { context } = await openKind(connector, given);
    const sentences = [await refusal(more), await refusalOf(() => connector.test(context))];
    expect(sentences[0]).toBe(sentences[1] ?? '');
    return sentences[0] ?? '';
  };

  test('says in one sentence that user or password are wrong, without the password', async () => {
    const sentence = await refusals({ password: 'wrong-s3cret' });
    expect(sentence).toEndWith(
      `does not let the user "${source.config.username}" in: check username and password.`,
    );
    expect(sentence).not.toContain('s3cret');
    expect(await refusals({ username: 'nobody-here' })).toContain('does not let the user "nobody-here" in');
  });

  test('says that there is no such database', async () => {
    expect(await refusals({ database: 'not_there' })).toContain('has no database "not_there"');
  });

  test('says that nothing listens there', async () => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    await new Promise((resolve) => server.close(resolve));
    expect(await refusals({ host: '127.0.0.1', port })).toBe(
      `127.0.0.1:${port} cannot be asked: nothing listens there. Check host and port, and whether the service runs.`,
    );
  });

  test('ends when it is cancelled before the server has said anything', async () => {
    const sockets = new Set<{ destroy(): unknown }>();
    const server = createServer((socket) => void sockets.add(socket.on('error', () => {})));
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
    );
    try {
      const given = { ...source.config, users: 'select 1 as id', host: '127.0.0.1', port };
      const { context, abort } = await openKind(connector, given);
      server.once('connection', () => abort.abort(new Error('The run was cancelled.')));
      const reading = async () => {
        for await (const _ of connector.read(context));
      };
      expect(await refusalOf(reading)).toBe('The run was cancelled.');
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });

  test('ends when it is cancelled while the server works', async () => {
    const users = said(engine, '', 'select 1 as id, pg_sleep(60)', 'select 1 as id, sleep(60)');
    const { context, abort } = await openKind(connector, { ...source.config, users });
    const reading = async () => {
      for await (const _ of connector.read(context));
    };
    setTimeout(() => abort.abort(new Error('The run was cancelled.')), 300);
    expect(await refusalOf(reading)).toBe('The run was cancelled.');
  });

  test('gives up on a query that takes too long', async () => {
    const users = said(
      engine,
      '',
      'select 1 as id, pg_sleep(30)',
      'select count(*) as id from seq_1_to_1000000 as a, seq_1_to_1000000 as b where a.seq <> b.seq + 1',
    );
    expect(await refusal({ users, timeoutSeconds: 1 })).toBe(
      'The query for people took longer than 1 s ("timeoutSeconds").',
    );
  });

  test('names what the configuration lacks', async () => {
    expect(await refusal({ host: undefined })).toBe(`The configuration needs "host" for ${engine}.`);
    expect(await refusal({ database: undefined })).toBe(`The configuration needs "database" for ${engine}.`);
  });
});

/** Expressions, and the texts that they have to become. */
const values: Readonly<Record<Engine, readonly (readonly [expression: string, text: string | undefined])[]>> =
  {
    sqlite: [
      ['9223372036854775807', '9223372036854775807'],
      ['0.5', '0.5'],
      ['null', undefined],
      ["x'00ff'", '00ff'],
      ["'2024-05-31 08:00:00'", '2024-05-31 08:00:00'],
    ],
    postgres: [
      ['9223372036854775807::bigint', '9223372036854775807'],
      ['12345678901234567890.123456789::numeric', '12345678901234567890.123456789'],
      ['true', 'true'],
      ['false', 'false'],
      ['null', undefined],
      ["date '2024-05-31'", '2024-05-31'],
      ["timestamp '2024-05-31 08:00:00.5'", '2024-05-31T08:00:00.5'],
      ["timestamptz '2024-05-31 08:00:00+02'", '2024-05-31T06:00:00Z'],
      ["'\\x00ff'::bytea", '00ff'],
      ['\'{"n": 12345678901234567890}\'::jsonb', '{"n": 12345678901234567890}'],
      ["'6f1c9c2e-0000-4000-8000-000000000001'::uuid", '6f1c9c2e-0000-4000-8000-000000000001'],
      ["array['', 'b']", 'b'],
      ['0.1::float8', '0.1'],
    ],
    mysql: [
      ['cast(18446744073709551615 as unsigned)', '18446744073709551615'],
      ['cast(12345678901234567890.123456789 as decimal(40, 9))', '12345678901234567890.123456789'],
      ['true', '1'],
      ['null', undefined],
      ["date '2024-05-31'", '2024-05-31'],
      ["timestamp '2024-05-31 08:00:00'", '2024-05-31T08:00:00'],
      ['from_unixtime(0)', '1970-01-01T00:00:00'],
      ["x'00ff'", '00ff'],
      ["b'101'", '05'],
      ["json_object('n', 12345678901234567890)", '{"n": 12345678901234567890}'],
      ["'é😀'", 'é😀'],
    ],
  };

describe.each(engines())('a value of %s', (engine) => {
  test('becomes a text with everything that it says', async () => {
    await using source = await openSource(engine);
    for (const [expression, text] of values[engine]) {
      const config = { ...source.config, users: `select 1 as id, ${expression} as bio` };
      const { users } = await readAll(connector, config);
      expect([expression, users[0]?.bio]).toEqual([expression, text]);
    }
  });
});

describe.if(engines().includes('mysql'))('columns of a table of MariaDB', () => {
  test('become texts by their types', async () => {
    await using source = await openSource('mysql');
    await source.run(
      'create table t (id binary(2), flags bit(12), born date, made timestamp, none datetime, bio json, b blob, c char(5), y year)',
      "set sql_mode = ''",
      "insert into t values (x'00ff', b'100000000001', '2024-05-31', '2024-05-31 08:00:00', null, '[1]', 'ab', 'é', 2024)",
    );
    const columns = {
      id: 'id',
      title: 'flags',
      dateofbirth: 'born',
      jobstartdate: 'made',
      jobenddate: 'none',
    };
    const { users } = await readAll(connector, {
      ...source.config,
      users: 'select * from t',
      mapping: { user: { ...columns, bio: 'bio', initials: 'b', surname: 'c', jobtitle: 'y' } },
    });
    expect(users).toEqual([
      {
        kind: 'user',
        id: '00ff',
        title: '2049',
        dateofbirth: '2024-05-31',
        jobstartdate: expect.stringMatching(/^2024-05-31T\d\d:00:00Z$/),
        bio: '[1]',
        initials: '6162',
        surname: 'é',
        jobtitle: '2024',
      },
    ]);
  });
});

describe.if(engines().includes('mysql'))('sql, over TLS', () => {
  test('does not talk to a server whose certificate nobody vouches for', async () => {
    await using source = await openSource('mysql');
    const { caCertificate: _, ...config } = source.config;
    expect(await refusalOf(() => readAll(connector, { ...config, users: 'select 1 as id' }))).toContain(
      'its certificate is not trusted',
    );
  });

  test('does not talk to a server whose certificate is for another name', async () => {
    await using source = await openSource('mysql');
    const config = { ...source.config, host: '127.0.0.1', users: 'select 1 as id' };
    expect(await refusalOf(() => readAll(connector, config))).toContain(
      'its certificate is for another name',
    );
  });

  test('encrypts', async () => {
    await using source = await openSource('mysql');
    const users =
      "select variable_value as id from information_schema.session_status where variable_name = 'Ssl_cipher'";
    const { users: found } = await readAll(connector, { ...source.config, users });
    expect(found[0]?.id).toMatch(/AES|CHACHA/);
  });
});

describe.if(engines().includes('postgres'))('sql, at a PostgreSQL without TLS', () => {
  test('says what to do', async () => {
    await using source = await openSource('postgres');
    const config = { ...source.config, tls: true, users: 'select 1 as id' };
    expect(await refusalOf(() => readAll(connector, config))).toEndWith(
      'offers no TLS: switch it on there or, if nobody can listen on the way, set "tls" to false.',
    );
  });
});

describe('sql, on a file of SQLite', () => {
  test('refuses what is no database', async () => {
    const refusal = (file: string) =>
      refusalOf(() => readAll(connector, { engine: 'sqlite', file, users: 'select 1 as id' }));
    expect(await refusal('people.db')).toBe('The file "people.db" has to be a full path.');
    expect(await refusal('/nowhere/people.db')).toBe('There is no file /nowhere/people.db.');
    expect(await refusal(import.meta.path)).toContain(
      'cannot be read as a SQLite database: file is not a database.',
    );
  });
});
