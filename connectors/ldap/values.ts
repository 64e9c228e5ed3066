// Attributes of an entry as values of a record: text, lists of text, and what Active Directory keeps as bytes or bits.

import type { Attribute } from './message.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Attributes that hold a GUID in the byte order of Windows (MS-DTYP 2.3.4.2). */
const guidAttributes = new Set(['objectguid', 'ms-ds-consistencyguid', 'msexchmailboxguid', 'schemaidguid']);
const sidAttributes = new Set(['objectsid', 'sidhistory']);
const accountDisabled = 2;

export type AttributeValue = string | Uint8Array | readonly (string | Uint8Array)[];

/** Text where the bytes are text, else the bytes; a list when there are several. Undefined for none. */
export function toValue({ name, values }: Attribute): AttributeValue | undefined {
  const read = readerOf(name.toLowerCase());
  const [first, ...others] = values;
  if (first === undefined) return undefined;
  return others.length === 0 ? read(first) : values.map(read);
}

/** All values as text; those that are none are left out. */
export function toTexts(attribute: Attribute | undefined): readonly string[] {
  if (attribute === undefined) return [];
  return attribute.values.map(toText).filter((each) => typeof each === 'string');
}

/** Whether the account may be used; undefined when the attribute could not be read (MS-ADTS 2.2.16). */
export function isAccountActive(userAccountControl: Attribute | undefined): boolean | undefined {
  const [text] = toTexts(userAccountControl);
  if (text === undefined || !/^-?\d{1,10}$/.test(text)) return undefined;
  return (Number(text) & accountDisabled) === 0;
}

function readerOf(name: string): (bytes: Uint8Array) => string | Uint8Array {
  if (guidAttributes.has(name)) return toGuid;
  return sidAttributes.has(name) ? toSid : toText;
}

function toText(bytes: Uint8Array): string | Uint8Array {
  try {
    return utf8.decode(bytes);
  } catch {
    return Uint8Array.from(bytes);
  }
}

function toGuid(bytes: Uint8Array): string | Uint8Array {
  if (bytes.length !== 16) return Uint8Array.from(bytes);
  const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
  const digits = Buffer.from(order.map((at) => bytes[at] ?? 0)).toString('hex');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** MS-DTYP 2.4.2.2. */
function toSid(bytes: Uint8Array): string | Uint8Array {
  const [revision, count = 0] = bytes;
  if (bytes.length < 8 || bytes.length !== 8 + count * 4) return Uint8Array.from(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const authority = view.getUint16(2) * 2 ** 32 + view.getUint32(4);
  const parts = Array.from({ length: count }, (_, at) => view.getUint32(8 + at * 4, true));
  return ['S', revision, authority, ...parts].join('-');
}
