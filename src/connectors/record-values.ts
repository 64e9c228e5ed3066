// Brings the values that connectors yield into the lexical forms of the profile file (schemas/profile-sync.xsd).
// It refuses what no form exists for, with a sentence that says which forms there are; it never guesses.

import { type LeafName, toBoolean } from '../xml/records.ts';

/** Longest @id, @username, @name and @ref of the schema, in characters. */
export const keyCharactersMax = 1_024;

/** What is wrong with one value: `must be …`, for a sentence that begins with the attribute. */
export class ValueError extends Error {}

/** Makes the text of a value, neither null nor undefined, for one element; throws ValueError when it cannot hold it. */
export type Form = (value: unknown) => string;

/** The form of an element's text, by its name. */
export function formOf(name: LeafName): Form {
  const form = forms.get(name);
  if (form === undefined) return textForm;
  return (value) => {
    const text = trimmed(plainText(value));
    return text === '' ? '' : form(text);
  };
}

/** Any text; one of nothing but blanks is empty. */
export function textForm(value: unknown): string {
  const text = plainText(value);
  return isOrdinary(text.charCodeAt(0)) || text.trim() !== '' ? text : '';
}

/** Without the blanks around it. Nearly every text begins and ends with a sign that is none: looking costs less. */
export function trimmed(text: string): string {
  const isTrim = isOrdinary(text.charCodeAt(0)) && isOrdinary(text.charCodeAt(text.length - 1));
  return isTrim ? text : text.trim();
}

/** A sign of ASCII that is no blank; false for none at all. */
function isOrdinary(code: number): boolean {
  return code > 0x20 && code < 0x7f;
}

/** The text of a value that has no form of its own. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  switch (typeof value) {
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      return numberText(value);
  }
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new ValueError('is a date that does not exist');
    return value.toISOString();
  }
  throw new ValueError('must be a text, number, boolean or Date');
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) throw new ValueError('is a number that is not finite');
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}

const forms: ReadonlyMap<string, (text: string) => string> = new Map<LeafName, (text: string) => string>([
  ['active', booleanText],
  ['omitfromsearch', booleanText],
  ['forcepasswordreset', booleanText],
  ['loginType', loginTypeText],
  ['jobstartdate', dateText],
  ['jobenddate', dateText],
  ['dateofbirth', dateText],
  ['culture', cultureText],
]);

const words: Readonly<Record<string, string>> = {
  yes: 'true',
  y: 'true',
  t: 'true',
  no: 'false',
  n: 'false',
  f: 'false',
};

function booleanText(text: string): string {
  if (text === 'true' || text === 'false') return text;
  const word = text.toLowerCase();
  const known = toBoolean(word)?.toString() ?? (Object.hasOwn(words, word) ? words[word] : undefined);
  if (known !== undefined) return known;
  throw new ValueError(`is ${quoted(text)}, which has to be true or false; translate it by "values"`);
}

function loginTypeText(text: string): string {
  if (text === '0' || text === '1' || text === '2') return text;
  throw new ValueError(`is ${quoted(text)}, which has to be 0 (local), 1 (Windows) or 2 (SAML)`);
}

/** A language tag; sources also write `nb_NO`. */
function cultureText(text: string): string {
  const tag = text.replaceAll('_', '-');
  if (/^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$/.test(tag)) return tag;
  throw new ValueError(`is ${quoted(text)}, which has to be a language tag such as nb-NO`);
}

/** What nearly all dates are like. */
const plainDay = /^\d{4}-\d\d-\d\d$/;

const dateForm =
  /^(?<date>(\d{4})-(\d\d)-(\d\d))(?:[T ](?<time>(\d\d):(\d\d))(?::(?<second>\d\d(?:\.\d+)?))?)?\s*(?<zone>Z|[+-]\d\d(?::?\d\d)?)?$/i;

/** xs:date or xs:dateTime; what databases write in place of `T` and `+02:00` is brought into that form. */
function dateText(text: string): string {
  if (plainDay.test(text) && isDay(Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))))
    return text;
  const found = dateForm.exec(text);
  if (found === null) {
    // The form alone: a date of birth does not belong into a log.
    const form = quoted(text.replace(/\d/g, '9'));
    const advice = 'bring it into the form 2024-05-31 or 2024-05-31T08:00:00Z by "replace"';
    throw new ValueError(`has the form ${form}, which is not that of a date; ${advice}`);
  }
  const { date = '', time, second = '00', zone = '' } = found.groups ?? {};
  const [, , year, month, day, , hour = '0', minute = '0'] = found;
  const isThere =
    isDay(Number(year), Number(month), Number(day)) && isTime(Number(hour), Number(minute), Number(second));
  if (!isThere || !isZone(zone)) throw new ValueError('is a date or time that does not exist');
  return `${date}${time === undefined ? '' : `T${time}:${second}`}${zoneText(zone)}`;
}

function isDay(year: number, month: number, day: number): boolean {
  if (year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= 28) return true;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return year >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isTime(hour: number, minute: number, second: number): boolean {
  return hour <= 23 && minute <= 59 && second < 60;
}

/** XML Schema 1.0 §3.2.7.3: fourteen hours at most. */
function isZone(zone: string): boolean {
  if (zone === '' || zone.toUpperCase() === 'Z') return true;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(3).replace(':', '') || '0')];
  return minutes <= 59 && (hours < 14 || (hours === 14 && minutes === 0));
}

function zoneText(zone: string): string {
  if (zone === '' || zone.toUpperCase() === 'Z') return zone.toUpperCase();
  const minutes = zone.slice(3).replace(':', '');
  return `${zone.slice(0, 3)}:${minutes === '' ? '00' : minutes}`;
}

const quotedCharactersMax = 100;

/** Something of the source in a sentence: short, and on one line whatever is in it. */
export function quoted(text: string): string {
  if (text.length <= quotedCharactersMax) return JSON.stringify(text);
  return JSON.stringify(`${text.slice(0, quotedCharactersMax)}…`);
}
