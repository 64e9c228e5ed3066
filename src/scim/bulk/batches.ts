import { DomainError } from '../../errors.ts';
import { canonicalKey } from '../../resource/canonical-key.ts';
import { enterpriseUserUrn, platformUserUrn } from '../../resource/schema.ts';
import { isArray, isObject, type ScimObject, type ScimValue } from '../../resource/value.ts';
import type { Plan } from './plan.ts';
import type { Change, Prepared } from './prepare.ts';

/** Others wait in the write queue behind these at most. */
const batchOperationsMax = 16;
const activeName = /^(?:urn:[^[]+:)?active$/i;
/** As many as are hashed at the same time. */
const batchPasswordsMax = 2;

/**
 * The plan cut into batches, each done at once so that its operations share a commit (docs/adr/0009): operations of one
 * kind that come one after the other and of which none could notice another. Everything else is alone in its batch.
 */
export function batchesOf(operations: readonly Prepared[], plan: Plan): readonly (readonly number[])[] {
  const batches: number[][] = [];
  let open: Batch | undefined;
  for (const index of plan.order) {
    const operation = operations[index];
    const isApart = plan.faults.has(index) || plan.rings.has(index) || operation === undefined;
    const marks = isApart ? undefined : marksOf(operation);
    if (marks !== undefined && open?.takes(marks) === true) {
      open.add(marks);
      batches.at(-1)?.push(index);
    } else {
      batches.push([index]);
      open = marks === undefined ? undefined : new Batch(marks);
    }
  }
  return batches;
}

/** By what others can find what is changed, and what the change looks for itself. */
interface Marks {
  /** Only what is of one kind is done together. */
  readonly kind: string;
  readonly names: readonly string[];
  readonly references: readonly string[];
  /** Departments and the like that come to be with their first user, in that one's spelling. */
  readonly units: readonly string[];
  readonly hasPassword: boolean;
}

class Batch {
  readonly #kind: string;
  readonly #names = new Set<string>();
  readonly #references = new Set<string>();
  readonly #units = new Map<string, string>();
  #passwords = 0;
  #length = 0;

  constructor(first: Marks) {
    this.#kind = first.kind;
    this.add(first);
  }

  takes({ kind, names, references, units, hasPassword }: Marks): boolean {
    const isFull =
      this.#length >= batchOperationsMax || (hasPassword && this.#passwords >= batchPasswordsMax);
    if (kind !== this.#kind || isFull) return false;
    return (
      !names.some((name) => this.#names.has(name) || this.#references.has(name)) &&
      !references.some((reference) => this.#names.has(reference)) &&
      !units.some((unit) => (this.#units.get(canonicalKey(unit)) ?? unit) !== unit)
    );
  }

  add({ names, references, units, hasPassword }: Marks): void {
    for (const name of names) this.#names.add(name);
    for (const reference of references) this.#references.add(reference);
    for (const unit of units) this.#units.set(canonicalKey(unit), unit);
    if (hasPassword) this.#passwords += 1;
    this.#length += 1;
  }
}

/** undefined for what has to be alone: what it touches cannot be told beforehand. */
function marksOf({ change, bulkId }: Prepared): Marks | undefined {
  if (change instanceof DomainError) return undefined;
  if (change.method === 'POST') return marksOfCreate(change, bulkId);
  const { target, ifMatch } = change;
  const isApart = ifMatch !== undefined || target.bulkId !== undefined || target.type !== 'User';
  if (isApart || !(change.method === 'DELETE' || isOfActive(change))) return undefined;
  const { id = '' } = target;
  return { kind: change.method, names: [id], references: [], units: [], hasPassword: false };
}

/** A PATCH that says who is active and nothing else: of that no other resource shows anything. */
function isOfActive({ content }: Change): boolean {
  if (content.kind !== 'changes') return false;
  return content.operations.every(({ path, value }) =>
    path === undefined
      ? isObject(value) && Object.keys(value).every((name) => activeName.test(name))
      : activeName.test(path),
  );
}

function marksOfCreate(
  { content, target, references }: Change,
  bulkId: string | undefined,
): Marks | undefined {
  if (content.kind !== 'resource') return undefined;
  const { resource } = content;
  const enterprise = part(resource, enterpriseUserUrn);
  const platform = part(resource, platformUserUrn);
  const named = [resource.userName, resource.externalId, resource.displayName, ...emailsOf(resource)];
  const { organization, department } = enterprise;
  return {
    kind: `POST ${target.type}`,
    names: [...named.flatMap(keyOf), `bulkId:${bulkId}`],
    references: [
      ...keyOf(part(enterprise, 'manager').value),
      ...references.map((reference) => `bulkId:${reference}`),
    ],
    units: textsOf([organization, department, platform.company, platform.location]),
    hasPassword: resource.password !== undefined,
  };
}

function part(object: ScimObject, name: string): ScimObject {
  const value = object[name];
  return isObject(value) ? value : {};
}

function emailsOf({ emails }: ScimObject): readonly (ScimValue | undefined)[] {
  return isArray(emails) ? emails.map((email) => (isObject(email) ? email.value : undefined)) : [];
}

function keyOf(value: ScimValue | undefined): readonly string[] {
  return textsOf([value]).map(canonicalKey);
}

function textsOf(values: readonly (ScimValue | undefined)[]): readonly string[] {
  return values.filter((value) => typeof value === 'string');
}
