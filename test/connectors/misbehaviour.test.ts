// Connectors as they must not be, as real processes. Whatever one does, its run fails with a sentence, nothing of it is
// imported, and nothing is left behind: no process, no folder, no document.

import { describe, expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CallOptions, type ConnectorHouse, minute, openConnectorHouse } from './support.ts';

const secret = 'geheim-4711-"<&';

/** An executable whose body is a program for `interpreter`. */
async function withProgram(interpreter: string, body: string): Promise<ConnectorHouse> {
  const house = await openConnectorHouse();
  await house.add('bad', 'program', body);
  const properties = { key: { type: 'string', writeOnly: true } };
  const configSchema = { type: 'object', properties };
  const manifest = {
    kind: 'bad',
    summary: 'Misbehaves',
    command: [interpreter, 'program'],
    configSchema,
    canDelta: true,
  };
  await house.add('bad', 'connector.json', JSON.stringify(manifest));
  return house;
}

const head =
  '<syncdata version="1"><syncoptions domain="Human Resources" ldapid="1"><option name="mode">full</option></syncoptions>';
const ann = '<user id="1" username="ann"><additionalfields/></user>';
const whole = `${head}<users>${ann}</users></syncdata>`;

const short: CallOptions = { limits: { milliseconds: 1_500, memoryBytes: 1024 ** 3 } };
const small: CallOptions = { limits: { milliseconds: minute, memoryBytes: 200 * 1024 ** 2 } };

const failures: readonly {
  readonly does: string;
  readonly program: readonly [interpreter: string, body: string];
  readonly options?: CallOptions;
  readonly says: RegExp;
}[] = [
  {
    does: 'hangs',
    program: ['sh', 'exec sleep 600'],
    options: short,
    says: /had not ended after 1.5 seconds/,
  },
  {
    does: 'ignores SIGTERM',
    program: ['sh', `trap '' TERM; while :; do sleep 1; done`],
    options: short,
    says: /had not ended after 1.5 seconds/,
  },
  {
    does: 'leaves grandchildren that hold its output',
    program: ['sh', `trap '' TERM; (trap '' TERM HUP; sleep 600) & sleep 600`],
    options: short,
    says: /had not ended/,
  },
  {
    does: 'lets a process leave its group and goes',
    program: [
      'python3',
      `import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    time.sleep(600)\n  os._exit(0)\ntime.sleep(0.3)\nprint('half')`,
    ],
    says: /outside the root element/,
  },
  {
    does: 'allocates for ever',
    program: ['python3', 'held = []\nwhile True: held.append(bytearray(16_000_000))'],
    options: small,
    says: /used more than 209,715,200 bytes of memory|MemoryError/,
  },
  {
    does: 'lets a grandchild allocate for ever',
    program: ['sh', `python3 -c 'held = []\nwhile True: held.append(bytearray(4_000_000))'; sleep 600`],
    options: small,
    says: /used more than 209,715,200 bytes of memory/,
  },
  {
    does: 'starts processes for ever',
    program: ['sh', 'while :; do sleep 600 & done'],
    says: /started more than 256 processes|ended with exit status/,
  },
  { does: 'prints garbage', program: ['sh', 'head -c 100000 /dev/urandom'], says: /\(line 1, column \d+\)$/ },
  {
    does: 'prints half a document',
    program: ['sh', `printf '%s' '${head}<users>${ann}'`],
    says: /^The file ends inside the element 'users'/,
  },
  {
    does: 'writes on after the end of its document',
    program: ['sh', `printf '%s' '${whole}<more/>'`],
    says: /^A second root element follows the first/,
  },
  {
    does: 'writes a whole document and fails',
    program: ['sh', `printf '%s' '${whole}'; echo 'error: the source went away' >&2; exit 3`],
    says: /^The connector ended with exit status 3: the source went away\.$/,
  },
  {
    does: 'ends in the middle of a record',
    program: ['sh', `printf '%s' '${head}<users><user id="1" user'; kill -SEGV $$`],
    says: /^The connector was ended by SIGSEGV/,
  },
  {
    does: 'writes ten gigabytes',
    program: ['sh', 'exec head -c 10000000000 /dev/zero'],
    says: /larger than 1,000,000 bytes/,
  },
  {
    does: 'fills its folder',
    program: ['sh', 'i=0; while [ $i -lt 1200 ]; do : > f$i; i=$((i+1)); done; sleep 600'],
    says: /filled its working directory/,
  },
  {
    does: 'writes its log for ever',
    program: ['sh', 'exec yes debug: still here >&2'],
    says: /wrote more than 67,108,864 bytes to standard error/,
  },
  {
    does: 'says that it writes for another source',
    program: ['sh', `printf '%s' '${whole.replace('Human Resources', 'Sales')}'`],
    says: /is 'Sales', but this source is named 'Human Resources'/,
  },
  {
    does: 'says that it writes under another id',
    program: ['sh', `printf '%s' '${whole.replace('ldapid="1"', 'ldapid="2"')}'`],
    says: /is '2', but the id of this source is 1/,
  },
  { does: 'answers with nobody', program: ['true', ''], says: /answered with nobody/ },
  {
    does: 'leaves a checkpoint that is none',
    program: ['sh', `printf '{"half' > checkpoint.json; printf '%s' '${whole}'`],
    says: /checkpoint\.json that the connector has left is not JSON/,
  },
  {
    does: 'leaves a link for a checkpoint',
    program: ['sh', `ln -s /etc/passwd checkpoint.json; printf '%s' '${whole}'`],
    says: /checkpoint\.json that the connector has left is not a file/,
  },
];

describe('a connector that', () => {
  test.each(failures)(
    '$does fails, and leaves nothing',
    async ({ program, options, says }) => {
      await using house = await withProgram(...program);
      await house.imports.configurations.setSetting('documentBytesMax', '1000000');
      expect(await house.failure(house.takeIn('bad', { key: secret }, options))).toMatch(says);
      expect(house.leftovers()).toEqual([]);
      expect(await house.imports.runs.list({})).toEqual([]);
    },
    2 * minute,
  );
});

test(
  'a secret stands in nothing that a connector says',
  async () => {
    const body = `import json, sys, base64, urllib.parse
key = json.load(sys.stdin)["config"]["key"]
for form in (key, json.dumps(key), urllib.parse.quote(key), base64.b64encode(("ann:" + key).encode()).decode(), key.encode().hex()):
    print("warn: " + form, file=sys.stderr)
print("x" * 16000 + key + "y" * 10000, file=sys.stderr)
sys.exit("error: refused with " + key)`;
    await using house = await withProgram('python3', body);
    const failure = await house.failure(house.takeIn('bad', { key: secret }));
    expect(failure).toBe('The connector failed: refused with ********.');
    const said = house.said.join('\n');
    const forms = [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      Buffer.from(secret).toString('hex'),
    ];
    for (const form of [...forms, 'geheim', Buffer.from(secret).toString('base64').slice(4, 12)])
      expect(said).not.toContain(form);
    expect(house.log.filter(({ text }) => text.includes('********')).length).toBeGreaterThan(4);
  },
  minute,
);

/** A connector in TypeScript that yields `records`, the text of an iterable expression. */
async function withRecords(records: string): Promise<ConnectorHouse> {
  const house = await openConnectorHouse();
  const text = `export const connector = {
    kind: 'bad', summary: 'Misbehaves', configSchema: { type: 'object' },
    async test() { return 'Fine.'; },
    async *read() { yield* ${records}; },
  };`;
  await house.add('bad', 'connector.ts', text);
  return house;
}

const wrongRecords: readonly (readonly [records: string, says: RegExp])[] = [
  [
    "[{ kind: 'user', id: '1', username: 'ann' }, { kind: 'group', id: 'g', type: 'company', name: 'A' }]",
    /came after the first user/,
  ],
  ["[{ kind: 'person', id: '1' }]", /neither a group nor a user/],
  ['[null]', /neither a group nor a user/],
  ["[{ kind: 'user', username: 'ann' }]", /id of a user is missing/],
  ["[{ kind: 'user', id: '1', firstname: {} }]", /firstname of the user "1"/],
  ['(() => { process.exit(0); })()', /answered with nobody/],
  ['(() => { for (;;); })()', /had not ended after/],
];

describe('a connector in TypeScript that yields', () => {
  test.each(wrongRecords)(
    '%s fails',
    async (records, says) => {
      await using house = await withRecords(records);
      const limits = { milliseconds: says.source.includes('ended') ? 4_000 : minute, memoryBytes: 1024 ** 3 };
      expect(await house.failure(house.takeIn('bad', {}, { limits }))).toMatch(says);
      expect(house.leftovers()).toEqual([]);
    },
    2 * minute,
  );

  test(
    'members that are none leaves them out, whatever they are called',
    async () => {
      const record =
        '{"kind":"user","id":"1","username":"ann","__proto__":{"surname":"x"},"constructor":"y","toString":"z"}';
      await using house = await withRecords(`[JSON.parse(${JSON.stringify(record)})]`);
      const [shown] = await house.preview('bad', {}, 1);
      expect(shown?.xml).not.toMatch(/[xyz]</);
      expect(await house.import('bad', {})).toMatchObject({ status: 'completed', counts: { created: 1 } });
      expect(house.log.map(({ text }) => text).join(' ')).toContain('"constructor" is not an attribute');
    },
    2 * minute,
  );
});

test(
  'a million small users pass through',
  async () => {
    const program = `BEGIN {
    printf "<syncdata version=\\"1\\"><users>"
    for (i = 0; i < 1000000; i++) printf "<user id=\\"%d\\"/>", i
    print "</users></syncdata>"
  }`;
    await using house = await openConnectorHouse();
    const manifest = {
      kind: 'many',
      summary: 'Many',
      command: ['awk', program],
      configSchema: { type: 'object' },
    };
    await house.add('many', 'connector.json', JSON.stringify(manifest));
    expect(await house.countUsers('many', {})).toMatchObject({ users: 1_000_000 });
    expect(house.leftovers()).toEqual([]);
  },
  3 * minute,
);

test(
  'what a run has left whose starter was killed is cleared away by the next one',
  async () => {
    await using house = await withProgram('true', '');
    const { workFolder } = house.parts;
    const dead = Bun.spawn(['true']);
    await dead.exited;
    const folder = join(workFolder, `${dead.pid}-1-abcdef`);
    mkdirSync(folder, { recursive: true });
    const environment = { HOME: folder, PATH: '/usr/bin:/bin' };
    const left = Bun.spawn(['sleep', '600'], { cwd: folder, env: environment, detached: true });
    expect(house.leftovers()).toHaveLength(2);
    await house.failure(house.takeIn('bad', {}));
    expect(await left.exited).toBe(137);
    expect(house.leftovers()).toEqual([]);
  },
  minute,
);
