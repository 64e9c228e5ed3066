// A house in which files are queued without the child process that inspects them, so that thousands can be, and in
// which everybody can be compared with a NaiveDirectory.

import { DocumentStore } from '../../src/archive/archive.ts';
import type { User } from '../../src/directory/user.ts';
import { selectUsers } from '../../src/directory/user-store.ts';
import type { ImportRun } from '../../src/imports/runs.ts';
import { additionalFieldsUrn, enterpriseUserUrn, platformUserUrn } from '../../src/resource/schema.ts';
import { isObject, type ScimObject, type ScimValue } from '../../src/resource/value.ts';
import type { GeneralSource } from '../../src/sources/source-store.ts';
import type { Dialect } from '../../src/storage/database.ts';
import { TestApp } from '../support/app.ts';
import type { Group, NaiveDirectory, Person } from './naive-directory.ts';
import { domains, type FileSpec, type ScimStep, toXml, type UnitType, unitTypes } from './random-files.ts';
import { type ImportHouse, openImportHouse } from './support.ts';

const unguarded = { guardMinimum: '100000', guardShrinkPercent: '100', guardErrorPercent: '100' };

/** Reads documents in pieces, so that records come in batches of few. */
class PiecewiseDocuments extends DocumentStore {
  piece = 100_000;

  override async *read(document: string): AsyncGenerator<Uint8Array> {
    for await (const bytes of super.read(document))
      for (let at = 0; at < bytes.length; at += this.piece) yield bytes.subarray(at, at + this.piece);
  }
}

export class ModelHouse implements AsyncDisposable {
  readonly house: ImportHouse;
  readonly app: TestApp;
  readonly #documents: PiecewiseDocuments;

  private constructor(house: ImportHouse) {
    this.house = house;
    const { database, location } = house;
    this.app = new TestApp({ database, location, close: () => Promise.resolve(), options: {} });
    this.#documents = new PiecewiseDocuments(house.folder);
  }

  /** With the general sources 1 and 2, and the SCIM source 3. */
  static async open(dialect: Dialect): Promise<ModelHouse> {
    const house = await openImportHouse({ dialect, settings: unguarded });
    await house.addSource(domains[2], unguarded);
    const model = new ModelHouse(house);
    await model.app.addSource('Directory');
    await house.configurations.createField('floor', 'integer', null);
    return model;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
    await this.house[Symbol.asyncDispose]();
  }

  /** Imports the file, whether or not it is the one before. */
  async import(file: FileSpec, defaults: ReadonlyMap<UnitType, Group>): Promise<ImportRun> {
    const ids: Record<string, string> = {};
    for (const [type, group] of defaults)
      ids[`default${type[0]?.toUpperCase()}${type.slice(1)}`] = String(await this.#groupId(group));
    const source = (await this.house.sources.get(String(file.source))) as GeneralSource;
    const id = await this.house.queue(toXml(file, ids), { source, dryRun: file.dryRun });
    this.#documents.piece = file.piece;
    await this.house.processor(this.house.database, { documents: this.#documents }).drain();
    return this.house.runs.get(id);
  }

  async #groupId({ type, name }: Group): Promise<number> {
    const { id } = await this.house.database.read
      .selectFrom('group_')
      .select('id')
      .where('group_type', '=', type)
      .where('display_name', '=', name)
      .where('state', '=', 'existing')
      .executeTakeFirstOrThrow();
    return id;
  }

  /** Sends what the client does to `about`, whom the model has changed already. */
  async send(step: ScimStep, about: Person | Group, directory: NaiveDirectory): Promise<number> {
    const { app } = this;
    switch (step.kind) {
      case 'create': {
        const emails = step.email === undefined ? [] : [{ value: step.email, type: 'work', primary: true }];
        return (await app.createUser({ userName: step.userName, emails })).status;
      }
      case 'createGroup': {
        const urn = 'urn:ietf:params:scim:schemas:extension:platform:2.0:Group';
        return (await app.createGroup({ displayName: step.name, [urn]: { groupType: step.type } })).status;
      }
      case 'deleteGroup':
        return (await app.call('DELETE', `/Groups/${await this.#groupId(about as Group)}`)).status;
      case 'archive':
        return (await app.call('DELETE', this.#path(about))).status;
      case 'join':
      case 'leave': {
        const id = await this.#groupId(directory.groups[step.group] as Group);
        const op = step.kind === 'join' ? 'add' : 'remove';
        const value = [{ value: String((about as Person).id) }];
        return (await app.patch(`/Groups/${id}`, [{ op, path: 'members', value }])).status;
      }
      default:
        return (await app.patch(this.#path(about), [this.#operation(step, about as Person)])).status;
    }
  }

  #path(about: Person | Group): string {
    return `/Users/${(about as Person).id}`;
  }

  #operation(step: ScimStep, person: Person): object {
    switch (step.kind) {
      case 'retitle':
        return { op: 'replace', path: 'title', value: step.title };
      case 'rename':
        return { op: 'replace', path: 'userName', value: step.userName };
      case 'move':
        return { op: 'replace', path: `${enterpriseUserUrn}:department`, value: step.department };
      case 'switch':
        return { op: 'replace', path: 'active', value: step.active };
      default:
        return { op: 'replace', path: `${enterpriseUserUrn}:manager`, value: String(person.manager?.id) };
    }
  }

  async change(person: Person): Promise<void> {
    const row = { owner_source_id: person.owner, do_not_synchronise: person.isMarked ? 1 : 0 } as const;
    await this.house.database.write((tx) =>
      tx
        .updateTable('user')
        .set(row)
        .where('id', '=', person.id ?? 0)
        .execute(),
    );
  }

  /** Everyone as they are stored, in the order of ids. */
  async stored(): Promise<StoredPerson[]> {
    const db = this.house.database.read;
    const ids = (await db.selectFrom('user').select('id').orderBy('id').execute()).map(({ id }) => id);
    const users = await selectUsers(db, ids, 1);
    const others = await selectUsers(db, ids, 2);
    return users.map((user, index) => ({ user, link2: others[index]?.resource.externalId }));
  }

  /** All rows that a dry run, or the same file again, must leave alone. */
  async rows(): Promise<unknown> {
    const db = this.house.database.read;
    const all = (
      table: 'user' | 'user_email' | 'group_' | 'membership' | 'source_link' | 'journal' | 'sequence',
    ) => db.selectFrom(table).selectAll().execute();
    const tables = [all('user'), all('user_email'), all('group_'), all('membership'), all('source_link')];
    const rows = await Promise.all([...tables, all('journal'), all('sequence')]);
    return rows.map((table) => table.map((row) => JSON.stringify(row)).toSorted());
  }
}

export interface StoredPerson {
  readonly user: User;
  readonly link2: ScimValue | undefined;
}

/** Gives people whom the model does not know the id of the one stored who must be meant. */
export function recognise(directory: NaiveDirectory, stored: readonly StoredPerson[]): void {
  const known = new Set(directory.people.map(({ id }) => id));
  for (const { user } of stored) {
    if (known.has(user.id)) continue;
    const unknown = directory.people.filter(({ id }) => id === undefined);
    const match = unknown.find(({ userName }) => userName === user.resource.userName);
    if (match !== undefined) match.id = user.id;
  }
}

export function expected(person: Person): object {
  if (person.state === 'archived') return { id: person.id, state: person.state, groups: [] };
  const { values } = person;
  const unit = (type: UnitType) => person.unit(type)?.name;
  return {
    id: person.id,
    state: person.state,
    owner: person.owner,
    userName: person.userName,
    links: [person.links.get(1), person.links.get(2)],
    values: Object.fromEntries([...values].sort()),
    manager: person.manager?.id,
    units: unitTypes.map(unit),
    groups: [...person.groups].map(([group, isPrimary]) => `${group.type} ${group.name} ${isPrimary}`).sort(),
  };
}

export function actual({ user, link2 }: StoredPerson): object {
  const { id, state, groups } = user;
  if (state === 'archived') return { id, state, groups };
  return {
    id,
    state,
    owner: user.ownerSourceId,
    userName: user.resource.userName,
    links: [user.resource.externalId, link2],
    values: valuesOf(user.resource),
    manager: user.manager?.id,
    units: unitTypes.map((type) => user.units[type]),
    groups: groups.map((group) => `${group.groupType} ${group.displayName} ${group.isPrimary}`).sort(),
  };
}

function valuesOf(resource: ScimObject): object {
  const platform = objectAt(resource, platformUserUrn);
  const home = typed(resource.addresses, 'home');
  const values = {
    surname: objectAt(resource, 'name').familyName,
    email: typed(resource.emails, 'work').value,
    jobtitle: resource.title,
    culture: resource.preferredLanguage,
    phone: typed(resource.phoneNumbers, 'work').value,
    street: home.streetAddress,
    locality: home.locality,
    loginType: platform.loginType,
    floor: objectAt(resource, additionalFieldsUrn).floor,
  };
  const said = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said.map(([name, value]) => [name, String(value)]).sort());
}

function objectAt(resource: ScimObject, name: string): ScimObject {
  const value = resource[name];
  return isObject(value) ? value : {};
}

function typed(list: ScimValue | undefined, type: string): ScimObject {
  const elements = Array.isArray(list) ? list : [];
  return elements.find((element) => element.type === type) ?? {};
}
