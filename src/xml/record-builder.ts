import { isSpace } from './markup.ts';
import { checkOption } from './options.ts';
import {
  type AddressPartName,
  type AddressRecord,
  addressPartNames,
  type DocumentHead,
  type DocumentItem,
  type FieldRecord,
  type GroupRecord,
  type Leaf,
  type LeafName,
  leafNames,
  type MembershipRecord,
  type TypedLeaf,
  type UserRecord,
} from './records.ts';
import { type TextPosition, XmlError, type XmlErrorKind } from './xml.ts';

type Attributes = Readonly<Record<string, string>>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type UserDraft = Omit<
  Mutable<UserRecord>,
  'leaves' | 'phones' | 'ims' | 'addresses' | 'additionalfields' | 'groups'
> & {
  leaves: Partial<Record<LeafName, Leaf>>;
  phones: TypedLeaf[];
  ims: TypedLeaf[];
  addresses: AddressRecord[];
  groups?: MembershipRecord[];
  additionalfields: FieldRecord[];
};
type HeadDraft = Omit<Mutable<DocumentHead>, 'options' | 'warnings'> & {
  options: Map<string, string>;
  warnings: string[];
};

/** Receives the text of the element that has just been opened, and whether an empty one clears. */
type Finish = (text: string, attributes: Attributes) => void;

const leaves: ReadonlyMap<string, LeafName> = new Map(leafNames.map((name) => [name, name]));
const addressParts: ReadonlyMap<string, AddressPartName> = new Map(
  addressPartNames.map((name) => [name, name]),
);
const textKeepingBreaks = new Set(['bio', 'street', 'field']);

/**
 * Turns elements into records. It trusts the schema for content and checks structure only: an element that it
 * does not expect is an XmlError, never skipped.
 */
export class RecordBuilder {
  readonly items: DocumentItem[] = [];
  /** What is wrong with options and source; told together, as the schema's errors are. */
  readonly problems: XmlError[] = [];
  readonly #path: string[] = [];
  readonly #place: () => TextPosition;
  #head: HeadDraft = newHead('', 0, 0);
  #user: UserDraft = newUser(0);
  #group: Mutable<GroupRecord> = { line: 0, id: '', type: '', name: '' };
  #address: Partial<Record<AddressPartName, Leaf>> = {};
  #leaf: LeafName | undefined;
  #finish: Finish | undefined;
  #attributes: Attributes = {};
  #value = '';
  #users = 0;
  #groups = 0;

  /** `place` tells where the element starts that is being opened. */
  constructor(place: () => TextPosition) {
    this.#place = place;
  }

  get depth(): number {
    return this.#path.length;
  }

  get users(): number {
    return this.#users;
  }

  get groups(): number {
    return this.#groups;
  }

  path(): string {
    const counts: Readonly<Record<string, number>> = { users: this.#users, groups: this.#groups };
    const steps = this.#path.map((name, i) => {
      const count = i === 2 && this.#path[1] === `${name}s` ? counts[`${name}s`] : undefined;
      return count === undefined ? name : `${name}[${count}]`;
    });
    return steps.length === 0 ? '' : `/${steps.join('/')}`;
  }

  /** `line` is that of the start tag. */
  open(name: string, attributes: Attributes, line: number): void {
    if (this.#finish !== undefined) this.#unexpected(name);
    const depth = this.#path.push(name);
    this.#value = '';
    if (depth === 4 && this.#path[1] === 'users') this.#openUserChild(name, attributes);
    else if (depth === 3) this.#openRecord(name, attributes, line);
    else if (depth === 5) this.#openPart(name, attributes);
    else if (depth < 3) this.#openSection(name, attributes, depth);
    else if (depth === 4 && name === 'description') this.#capture(attributes, this.#setDescription);
    else this.#unexpected(name);
  }

  text(text: string): void {
    if (this.#finish !== undefined) this.#value = this.#value === '' ? text : this.#value + text;
  }

  close(): void {
    const depth = this.#path.length;
    const finish = this.#finish;
    if (finish !== undefined) {
      this.#finish = undefined;
      finish(this.#value, this.#attributes);
    } else if (depth === 4 && this.#path[3] === 'address') {
      this.#user.addresses.push({ type: collapse(this.#attributes.type ?? ''), parts: this.#address });
    } else if (depth === 3) {
      this.#closeRecord();
    } else if (depth === 2 && this.#path[1] === 'syncoptions') {
      this.#closeHead();
    }
    this.#path.pop();
  }

  #openSection(name: string, attributes: Attributes, depth: number): void {
    if (depth === 1 && name === 'syncdata') {
      this.#head = newHead(attributes.version ?? '', 0, 0);
      return;
    }
    if (depth !== 2) this.#unexpected(name);
    if (name === 'syncoptions') this.#openHead(attributes);
    else if (name !== 'users' && name !== 'groups') this.#unexpected(name);
  }

  #openHead(attributes: Attributes): void {
    const { line, column } = this.#place();
    this.#head = newHead(this.#head.version, line, column);
    this.#head.domain = collapse(attributes.domain ?? '');
    const ids = [attributes.ldapid, attributes.ldapId].filter((id) => id !== undefined).map(collapse);
    this.#head.ldapid = ids[0] ?? '';
    if (ids.length === 0) {
      this.#addProblem("Element 'syncoptions': The attribute 'ldapid' is required but missing.");
    } else if (ids.length > 1 && ids[0] !== ids[1]) {
      this.#addProblem("Element 'syncoptions': The attributes 'ldapid' and 'ldapId' differ.");
    }
  }

  #closeHead(): void {
    this.items.push({ kind: 'head', head: this.#head });
  }

  #openRecord(name: string, attributes: Attributes, line: number): void {
    const section = this.#path[1];
    if (section === 'users' && name === 'user') this.#openUser(attributes, line);
    else if (section === 'groups' && name === 'group') this.#openGroup(attributes, line);
    else if (section === 'syncoptions' && name === 'option') this.#openOption(attributes);
    else this.#unexpected(name);
  }

  #openUser(attributes: Attributes, line: number): void {
    this.#users += 1;
    this.#user = newUser(line);
    if (attributes.id !== undefined) this.#user.id = collapse(attributes.id);
    if (attributes.username !== undefined) this.#user.username = collapse(attributes.username);
  }

  #openGroup(attributes: Attributes, line: number): void {
    this.#groups += 1;
    const { id = '', type = '', name = '' } = attributes;
    this.#group = { line, id: collapse(id), type: collapse(type), name: collapse(name) };
  }

  #openOption(attributes: Attributes): void {
    const position = this.#place();
    this.#capture(attributes, (text, { name = '' }) => {
      const value = collapse(text);
      const { options, warnings } = this.#head;
      const { problem, warning } = checkOption(collapse(name), value, options);
      if (problem !== undefined) this.#addProblem(problem, position);
      if (warning !== undefined) warnings.push(warning);
      options.set(collapse(name), value);
    });
  }

  #closeRecord(): void {
    const section = this.#path[1];
    if (section === 'users') this.items.push({ kind: 'user', record: this.#user });
    else if (section === 'groups') this.items.push({ kind: 'group', record: this.#group });
  }

  #openUserChild(name: string, attributes: Attributes): void {
    this.#leaf = leaves.get(name);
    if (this.#leaf !== undefined) this.#capture(attributes, this.#setLeaf);
    else if (name === 'phone') this.#capture(attributes, this.#addPhone);
    else if (name === 'im') this.#capture(attributes, this.#addIm);
    else if (name === 'address') this.#openAddress(attributes);
    else if (name === 'groups') this.#user.groups ??= [];
    else if (name !== 'additionalfields') this.#unexpected(name);
  }

  #openAddress(attributes: Attributes): void {
    this.#address = {};
    this.#attributes = attributes;
  }

  #openPart(name: string, attributes: Attributes): void {
    const parent = this.#path[1] === 'users' ? this.#path[3] : '';
    if (parent === 'additionalfields' && name === 'field') this.#capture(attributes, this.#addField);
    else if (parent === 'groups' && name === 'group') this.#capture(attributes, this.#addMembership);
    else if (parent === 'address') this.#openAddressPart(name, attributes);
    else this.#unexpected(name);
  }

  #openAddressPart(name: string, attributes: Attributes): void {
    const part = addressParts.get(name);
    if (part === undefined) this.#unexpected(name);
    const address = this.#attributes;
    this.#capture(attributes, (text, own) => {
      this.#address[part] = toLeaf(name, text, own);
      this.#attributes = address;
    });
  }

  #capture(attributes: Attributes, finish: Finish): void {
    this.#attributes = attributes;
    this.#finish = finish;
  }

  readonly #setLeaf: Finish = (text, attributes) => {
    const name = this.#leaf;
    if (name === undefined) return;
    if (this.#user.leaves[name] !== undefined) this.#unexpected(name);
    this.#user.leaves[name] =
      name === 'alternateemail' ? toTypedLeaf(text, attributes) : toLeaf(name, text, attributes);
  };

  readonly #addPhone: Finish = (text, attributes) => {
    this.#user.phones.push(toTypedLeaf(text, attributes));
  };

  readonly #addIm: Finish = (text, attributes) => {
    this.#user.ims.push(toTypedLeaf(text, attributes));
  };

  readonly #addField: Finish = (text, attributes) => {
    this.#user.additionalfields.push({
      id: collapse(attributes.id ?? ''),
      value: trimSpace(text),
      applyBlank: isTrue(attributes.applyBlank),
    });
  };

  readonly #addMembership: Finish = (text, { ref, type }) => {
    this.#user.groups?.push({
      ...(ref === undefined ? {} : { ref: collapse(ref) }),
      ...(type === undefined ? {} : { type: collapse(type) }),
      name: collapse(text),
    });
  };

  readonly #setDescription: Finish = (text, attributes) => {
    this.#group.description = toLeaf('description', text, attributes);
  };

  #addProblem(message: string, position = this.#place()): void {
    this.problems.push(this.#error('schema', message, position));
  }

  #unexpected(name: string): never {
    const shown = this.#path.includes('password') ? 'password' : name;
    throw this.#error('schema', `Element '${shown}': This element is not expected.`, this.#place());
  }

  #error(kind: XmlErrorKind, message: string, position: TextPosition): XmlError {
    return new XmlError(kind, message, position, this.path());
  }
}

function newHead(version: string, line: number, column: number): HeadDraft {
  return { version, domain: '', ldapid: '', options: new Map(), line, column, warnings: [] };
}

function newUser(line: number): UserDraft {
  return { line, leaves: {}, phones: [], ims: [], addresses: [], additionalfields: [] };
}

function toLeaf(name: string, text: string, attributes: Attributes): Leaf {
  return { value: leafText(name, text), applyBlank: isTrue(attributes.applyBlank) };
}

function toTypedLeaf(text: string, attributes: Attributes): TypedLeaf {
  const type = collapse(attributes.type ?? '');
  return { value: collapse(text), applyBlank: isTrue(attributes.applyBlank), type };
}

function leafText(name: string, text: string): string {
  if (name === 'password') return text;
  return textKeepingBreaks.has(name) ? trimSpace(text) : collapse(text);
}

function isTrue(applyBlank: string | undefined): boolean {
  if (applyBlank === undefined) return false;
  const text = applyBlank.trim();
  return text === 'True' || text === 'true' || text === '1';
}

/** White space as XML has it: String.trim would take others, such as the no-break space. */
function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const needsCollapse = /^[ \t\r\n]|[ \t\r\n]$|[\t\r\n]| {2}/;

/** White space as xs:token has it: none at the ends, one space inside. */
function collapse(text: string): string {
  if (!needsCollapse.test(text)) return text;
  return text.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '');
}
