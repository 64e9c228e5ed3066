import {
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
import { unknownPosition, XmlError } from './xml.ts';

/** What a head needs to be written. */
export type HeadToWrite = Pick<DocumentHead, 'domain' | 'ldapid' | 'options'>;

export type ItemToWrite =
  | { readonly kind: 'head'; readonly head: HeadToWrite }
  | Exclude<DocumentItem, { readonly kind: 'head' }>;

/**
 * Writes a document from items in the order in which the reader yields them: head, groups, users. Yields text
 * piece by piece. Throws XmlError for items out of order, and for characters that XML cannot carry.
 */
export async function* writeDocument(
  items: AsyncIterable<ItemToWrite> | Iterable<ItemToWrite>,
): AsyncGenerator<string> {
  let state: State = 'start';
  for await (const item of items) {
    const next = item.kind;
    yield transition(state, next);
    state = next;
    if (item.kind === 'head') yield writeHead(item.head);
    else if (item.kind === 'group') yield writeGroup(item.record);
    else yield writeUser(item.record);
  }
  if (state !== 'user') throw refusal('A document needs at least one user.');
  yield '  </users>\n</syncdata>\n';
}

type State = 'start' | DocumentItem['kind'];

const transitions: Readonly<Record<string, string>> = {
  'start head': '<?xml version="1.0" encoding="UTF-8"?>\n<syncdata version="1">\n',
  'head group': '  <groups>\n',
  'head user': '  <users>\n',
  'group group': '',
  'group user': '  </groups>\n  <users>\n',
  'user user': '',
};

function transition(from: State, to: State): string {
  const text = transitions[`${from} ${to}`];
  if (text === undefined)
    throw refusal(`A ${to} cannot follow the ${from}: write the head, then groups, then users.`);
  return text;
}

/** The element `syncoptions`. */
export function writeHead(head: HeadToWrite): string {
  const options = [...head.options].map(
    ([name, value]) => `    <option name="${attribute(name)}">${content(value)}</option>\n`,
  );
  const attributes = `domain="${attribute(head.domain)}" ldapid="${attribute(head.ldapid)}"`;
  return `  <syncoptions ${attributes}>\n${options.join('')}  </syncoptions>\n`;
}

/** The element `group` of the document's own `groups`. */
export function writeGroup({ id, type, name, description }: GroupRecord): string {
  const attributes = `id="${attribute(id)}" type="${attribute(type)}" name="${attribute(name)}"`;
  if (description === undefined) return `    <group ${attributes} />\n`;
  return `    <group ${attributes}>${element('description', description)}</group>\n`;
}

const leavesBeforeLists = leafNames.slice(0, leafNames.indexOf('bio'));
const leavesAfterLists = leafNames.slice(leafNames.indexOf('bio'));

/** The element `user`. */
export function writeUser(user: UserRecord): string {
  const id = user.id === undefined ? '' : ` id="${attribute(user.id)}"`;
  const username = user.username === undefined ? '' : ` username="${attribute(user.username)}"`;
  const children = [
    ...writeLeaves(user, leavesBeforeLists),
    ...user.phones.map((phone) => element('phone', phone)),
    ...user.ims.map((im) => element('im', im)),
    ...user.addresses.map(writeAddress),
    ...writeLeaves(user, leavesAfterLists),
    ...(user.groups === undefined ? [] : [writeMemberships(user.groups)]),
    writeFields(user.additionalfields),
  ];
  return `    <user${id}${username}>\n${children.map((child) => `      ${child}\n`).join('')}    </user>\n`;
}

function writeLeaves({ leaves }: UserRecord, names: readonly LeafName[]): string[] {
  const written: string[] = [];
  for (const name of names) {
    const leaf = leaves[name];
    if (leaf !== undefined) written.push(element(name, leaf));
  }
  return written;
}

function writeAddress({ type, parts }: AddressRecord): string {
  const written: string[] = [];
  for (const name of addressPartNames) {
    const part = parts[name];
    if (part !== undefined) written.push(element(name, part));
  }
  return `<address type="${attribute(type)}">${written.join('')}</address>`;
}

function writeMemberships(groups: readonly MembershipRecord[]): string {
  const written = groups.map(({ ref, type, name }) => {
    const attributes = `${optional('ref', ref)}${optional('type', type)}`;
    return name === '' ? `<group${attributes} />` : `<group${attributes}>${content(name)}</group>`;
  });
  return `<groups>${written.join('')}</groups>`;
}

function writeFields(fields: readonly FieldRecord[]): string {
  if (fields.length === 0) return '<additionalfields />';
  const written = fields.map(({ id, value, applyBlank }) => {
    const attributes = `${optional('id', id)}${applyBlank ? ' applyBlank="True"' : ''}`;
    return `<field${attributes}>${content(value)}</field>`;
  });
  return `<additionalfields>${written.join('')}</additionalfields>`;
}

function element(name: string, leaf: Leaf | TypedLeaf): string {
  const attributes = `${optional('type', leaf.type)}${leaf.applyBlank ? ' applyBlank="True"' : ''}`;
  return `<${name}${attributes}>${content(leaf.value)}</${name}>`;
}

function optional(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` ${name}="${attribute(value)}"`;
}

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

function content(text: string): string {
  return checked(text).replace(/[&<>\r]/g, (character) => references[character] ?? '');
}

function attribute(text: string): string {
  return checked(text).replace(/[&<>"\t\n\r]/g, (character) => references[character] ?? '');
}

/** Char of XML 1.0 §2.2: no control characters but tab and line breaks, no lone surrogates. */
const forbidden = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

function checked(text: string): string {
  const found = forbidden.exec(text)?.[0];
  if (found === undefined) return text;
  const code = (found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw refusal(`The character U+${code} cannot be written in XML. Remove it from the value.`);
}

function refusal(message: string): XmlError {
  return new XmlError('malformed', message, unknownPosition);
}
