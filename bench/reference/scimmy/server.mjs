// SCIMMY with its Express routers, as its documentation shows it, over maps in memory: people and groups by id, people also
// by userName, so that no list is searched for what has an index here too. Usage: server.mjs PORT

import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';

const port = Number(process.argv[2]);

class Shelf {
  #last = 0;
  byId = new Map();
  byKey = new Map();

  constructor(keyOf) {
    this.keyOf = keyOf;
  }

  write({ id }, data) {
    const now = new Date().toISOString();
    const before = id === undefined ? undefined : this.#require(id);
    const created = before?.meta.created ?? now;
    const next = { ...data, id: id ?? String(++this.#last), meta: { created, lastModified: now } };
    if (before !== undefined) this.byKey.delete(this.keyOf(before));
    this.byId.set(next.id, next);
    this.byKey.set(this.keyOf(next), next);
    return next;
  }

  read({ id, filter }) {
    if (id !== undefined) return this.#require(id);
    const [operator, value] = filter?.length === 1 ? (filter[0].userName ?? []) : [];
    if (operator !== 'eq') return [...this.byId.values()];
    const found = this.byKey.get(String(value).toLowerCase());
    return found === undefined ? [] : [found];
  }

  remove({ id }) {
    this.byKey.delete(this.keyOf(this.#require(id)));
    this.byId.delete(id);
  }

  #require(id) {
    const found = this.byId.get(id);
    if (found === undefined) throw new SCIMMY.Types.Error(404, null, `Resource ${id} not found`);
    return found;
  }
}

function declare(Resource, shelf) {
  SCIMMY.Resources.declare(Resource)
    .ingress((resource, data) => shelf.write(resource, data))
    .egress((resource) => shelf.read(resource))
    .degress((resource) => shelf.remove(resource));
}

SCIMMY.Resources.User.extend(SCIMMY.Schemas.EnterpriseUser);
declare(SCIMMY.Resources.User, new Shelf(({ userName }) => userName.toLowerCase()));
declare(SCIMMY.Resources.Group, new Shelf(({ id }) => id));

const app = express();
app.disable('x-powered-by');
app.get('/healthz', (_request, response) => response.send('ok'));
app.use('/', new SCIMMYRouters({ type: 'bearer', handler: () => 'bench' }));
// By default Node closes a connection that rests for five seconds, as it does while the other server has its turn.
app.listen(port, '127.0.0.1').keepAliveTimeout = 0;
