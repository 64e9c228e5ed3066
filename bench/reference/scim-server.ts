// The limit of what the runtime and the database can do: bare Bun.serve on prepared statements of bun:sqlite.
// It writes as durably as the product (WAL, synchronous FULL, a commit for each request) and reads the same rows, and
// does nothing else: no authentication, no validation, no journal, no log. Usage: scim-server.ts DATABASE PORT

import { Database } from 'bun:sqlite';

interface UserDocument {
  readonly userName: string;
  readonly [attribute: string]: unknown;
}

interface MemberOperation {
  readonly Operations: readonly [{ readonly path: string; readonly value: unknown }];
}

interface GroupBody {
  readonly displayName: string;
  readonly members?: readonly { readonly value: string }[];
}

const [path = ':memory:', port = '0'] = Bun.argv.slice(2);
const db = new Database(path, { create: true, strict: true });
db.run('PRAGMA journal_mode = wal');
db.run('PRAGMA synchronous = full');
db.run(
  `CREATE TABLE user (id integer PRIMARY KEY, user_name_key text NOT NULL UNIQUE, display_name text, document text NOT NULL)`,
);
db.run('CREATE TABLE group_ (id integer PRIMARY KEY, display_name text NOT NULL)');
db.run(
  'CREATE TABLE membership (group_id integer, user_id integer, PRIMARY KEY (group_id, user_id)) WITHOUT ROWID',
);

const insertUser = db.prepare('INSERT INTO user VALUES (?, ?, ?, ?)');
const selectUser = db.prepare<{ document: string }, [number]>('SELECT document FROM user WHERE id = ?');
const selectByName = db.prepare<{ document: string }, [string]>(
  'SELECT document FROM user WHERE user_name_key = ?',
);
const updateUser = db.prepare('UPDATE user SET document = ? WHERE id = ?');
const deleteUser = db.prepare('DELETE FROM user WHERE id = ?');
const selectPage = db.prepare<{ document: string }, [number, number]>(
  'SELECT document FROM user WHERE id >= ? ORDER BY id LIMIT ?',
);
const insertGroup = db.prepare('INSERT INTO group_ VALUES (?, ?)');
const selectGroup = db.prepare<{ display_name: string }, [number]>(
  'SELECT display_name FROM group_ WHERE id = ?',
);
const deleteGroup = db.prepare('DELETE FROM group_ WHERE id = ?');
const insertMember = db.prepare('INSERT OR IGNORE INTO membership VALUES (?, ?)');
const deleteMembers = db.prepare('DELETE FROM membership WHERE group_id = ?');
const selectMembers = db.prepare<{ id: number; display_name: string }, [number]>(
  'SELECT id, display_name FROM membership JOIN user ON user.id = user_id WHERE group_id = ? ORDER BY id',
);

const headers = { 'content-type': 'application/scim+json' };
let lastId = 0;
let liveUsers = 0;

async function createUser(request: Request): Promise<Response> {
  const body = (await request.json()) as UserDocument;
  lastId += 1;
  liveUsers += 1;
  const now = new Date().toISOString();
  const document = JSON.stringify({
    ...body,
    id: String(lastId),
    meta: { resourceType: 'User', created: now, lastModified: now },
  });
  insertUser.run(lastId, body.userName.toLowerCase(), String(body.displayName ?? ''), document);
  return new Response(document, { status: 201, headers });
}

function listUsers(url: string): Response {
  const query = new URL(url).searchParams;
  const name = /^userName eq "(.*)"$/.exec(query.get('filter') ?? '')?.[1];
  const count = Number(query.get('count') ?? 100);
  // Ids of the measured people follow each other, so that a page begins where its number says.
  const rows =
    name === undefined
      ? selectPage.all(Number(query.get('startIndex') ?? 1), count)
      : selectByName.all(name.toLowerCase());
  const total = name === undefined ? liveUsers : rows.length;
  const resources = rows.map(({ document }) => document).join(',');
  return new Response(`{"totalResults":${total},"itemsPerPage":${rows.length},"Resources":[${resources}]}`, {
    headers,
  });
}

function readUser(id: number): Response {
  return new Response(selectUser.get(id)?.document ?? null, { headers });
}

async function patchUser(id: number, request: Request): Promise<Response> {
  const { Operations } = (await request.json()) as MemberOperation;
  const [{ path, value }] = Operations;
  const before = JSON.parse(selectUser.get(id)?.document ?? '{}') as UserDocument;
  const document = JSON.stringify({ ...before, [path]: value });
  updateUser.run(document, id);
  return new Response(document, { headers });
}

function removeUser(id: number): Response {
  deleteUser.run(id);
  liveUsers -= 1;
  return new Response(null, { status: 204 });
}

const addMembers = db.transaction((group: number, members: readonly { readonly value: string }[]) => {
  for (const { value } of members) insertMember.run(group, Number(value));
});

async function createGroup(request: Request): Promise<Response> {
  const { displayName, members = [] } = (await request.json()) as GroupBody;
  lastId += 1;
  insertGroup.run(lastId, displayName);
  addMembers(lastId, members);
  return new Response(JSON.stringify({ id: String(lastId), displayName }), { status: 201, headers });
}

function readGroup(id: number): Response {
  const displayName = selectGroup.get(id)?.display_name;
  const members = selectMembers.all(id).map((row) => ({ value: String(row.id), display: row.display_name }));
  return new Response(JSON.stringify({ id: String(id), displayName, members }), { headers });
}

async function patchGroup(id: number, request: Request): Promise<Response> {
  const { Operations } = (await request.json()) as MemberOperation;
  addMembers(id, Operations[0].value as { readonly value: string }[]);
  return new Response(null, { status: 204 });
}

function removeGroup(id: number): Response {
  deleteMembers.run(id);
  deleteGroup.run(id);
  return new Response(null, { status: 204 });
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  routes: {
    '/healthz': () => new Response('ok'),
    '/Users': { GET: (request) => listUsers(request.url), POST: createUser },
    '/Users/:id': {
      GET: ({ params }) => readUser(Number(params.id)),
      PATCH: (request) => patchUser(Number(request.params.id), request),
      DELETE: ({ params }) => removeUser(Number(params.id)),
    },
    '/Groups': { POST: createGroup },
    '/Groups/:id': {
      GET: ({ params }) => readGroup(Number(params.id)),
      PATCH: (request) => patchGroup(Number(request.params.id), request),
      DELETE: ({ params }) => removeGroup(Number(params.id)),
    },
  },
});
