// A seeded generator of profile files: the same options give the same bytes, whatever their length.
// It makes users of about 1 KB with groups, managers (later ones too) and names of several scripts.

import type { GroupRecord, Leaf, LeafName, UserRecord } from '../../src/xml/records.ts';
import { type ItemToWrite, writeDocument } from '../../src/xml/write.ts';

export interface GeneratedProfile {
  readonly users: number;
  readonly seed?: number;
  readonly domain?: string;
  readonly ldapid?: string;
  readonly options?: Readonly<Record<string, string>>;
  /** Shares of users (0 to 1) that differ from the plain file of the same seed. */
  readonly renamed?: number;
  readonly moved?: number;
  readonly removed?: number;
  readonly blanked?: number;
  readonly disabled?: number;
  /** Share of users with a password; none unless given. */
  readonly passwords?: number;
}

const firstNames = [
  'Anna',
  'Bjørn',
  'Chloé',
  'Dmitri',
  'Émile',
  'Fatima',
  'Giorgos',
  'Hana',
  'İlker',
  'João',
  'Katarzyna',
  'Łukasz',
  'María',
  'Nguyễn',
  'Ömer',
  'Priya',
  'Quentin',
  'Róisín',
  'Søren',
  'Tomáš',
  'Ülle',
  'Véronique',
  'William',
  'Ximena',
  'Yūki',
  'Žofia',
  '李娜',
  'Дарья',
  'محمد',
  'Zoë',
] as const;
const surnames = [
  'Andersson',
  'Brontë',
  'Çelik',
  'Dvořák',
  'Eriksson',
  'Fernández',
  'García',
  'Håkansson',
  'Ivanović',
  'Jørgensen',
  'Kowalska',
  'Lefèvre',
  'Müller',
  'Núñez',
  "O'Brien",
  'Papadopoulos',
  'Quispe',
  'Rossi',
  'Šimánek',
  'Tremblay',
  'Ulrich',
  'van der Meer',
  'Weiß',
  'Xu',
  'Yılmaz',
  'Zieliński',
  'Smith & Sons',
  '王',
  'Петрова',
  'Brown',
] as const;
const companies = ['Northwind Holding', 'Contoso Østfold AS', 'Fabrikam GmbH & Co. KG'] as const;
const departments = [
  'Finance',
  'Research',
  'Sales',
  'Legal',
  'Human Resources',
  'Operations',
  'Facilities',
  'Procurement',
  'Marketing',
  'Customer Care',
  'Quality',
  'Security',
] as const;
const locations = ['Oslo', 'Zürich', 'São Paulo', 'Kraków', '東京', 'Montréal', 'Cork', 'Leeds'] as const;
const jobTitles = [
  'Analyst',
  'Engineer',
  'Manager',
  'Assistant',
  'Head of Section',
  'Specialist',
  'Trainee',
] as const;
const cultures = ['en-GB', 'nb-NO', 'de-CH', 'pt-BR', 'pl-PL', 'ja-JP', 'fr-CA', 'es'] as const;
const zones = ['Europe/Oslo', 'Europe/Zurich', 'America/Sao_Paulo', 'Asia/Tokyo', 'America/Toronto'] as const;

/** A number from 0 to 1 that depends on nothing but its arguments (a finaliser in the manner of MurmurHash3). */
function chance(seed: number, index: number, salt: number): number {
  let hash =
    Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35) ^ Math.imul(salt, 0x27d4eb2f);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}

/** The file as bytes, streamed in pieces of about 64 KiB. */
export async function* generateProfileXml(profile: GeneratedProfile): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let text = '';
  for await (const piece of writeDocument(generateItems(profile))) {
    text += piece;
    if (text.length < 64 * 1024) continue;
    yield encoder.encode(text);
    text = '';
  }
  yield encoder.encode(text);
}

/** The same as items: head, groups, users. */
export function* generateItems(profile: GeneratedProfile): Generator<ItemToWrite> {
  const { domain = 'Human Resources', ldapid = '1', options = { mode: 'full' } } = profile;
  yield { kind: 'head', head: { domain, ldapid, options: new Map(Object.entries(options)) } };
  for (const record of groupRecords()) yield { kind: 'group', record };
  for (let index = 0; index < profile.users; index += 1) {
    if (isChosen(profile, index, 'removed')) continue;
    yield { kind: 'user', record: generateUser(profile, index) };
  }
}

function* groupRecords(): Generator<GroupRecord> {
  const kinds = [
    ['company', companies],
    ['department', departments],
    ['location', locations],
    ['security group', ['Everyone', 'Remote access']],
  ] as const;
  for (const [type, names] of kinds) {
    for (const [i, name] of names.entries()) yield { line: 0, id: groupId(type, i), type, name };
  }
}

function groupId(type: string, index: number): string {
  return `${type.slice(0, 3)}-${index + 1}`;
}

const shares = {
  removed: 101,
  renamed: 102,
  moved: 103,
  blanked: 104,
  disabled: 105,
  passwords: 106,
} as const;

function isChosen(profile: GeneratedProfile, index: number, share: keyof typeof shares): boolean {
  return chance(profile.seed ?? 1, index, shares[share]) < (profile[share] ?? 0);
}

function generateUser(profile: GeneratedProfile, index: number): UserRecord {
  const pick = picker(profile.seed ?? 1, index);
  const isRenamed = isChosen(profile, index, 'renamed');
  const first = pick(firstNames, 1);
  const last = isRenamed ? `${pick(surnames, 2)}-${pick(surnames, 3)}` : pick(surnames, 2);
  const username = `${isRenamed ? 'renamed' : 'user'}.${index + 1}@example.com`;
  const isMoved = isChosen(profile, index, 'moved');
  const department = Math.floor(chance(profile.seed ?? 1, index, 4) * departments.length) + (isMoved ? 1 : 0);
  return {
    line: 0,
    id: `p${index + 1}`,
    username,
    leaves: {
      ...personLeaves(profile, index, first, last, username),
      company: leaf(groupId('company', Math.floor(chance(1, index, 5) * companies.length))),
      department: leaf(groupId('department', department % departments.length)),
      location: leaf(groupId('location', Math.floor(chance(1, index, 6) * locations.length))),
      ...managerLeaf(profile, index),
    },
    phones: [
      { type: 'work', ...leaf(`+47 22 ${String(100_000 + (index % 900_000))}`) },
      { type: 'mobile', ...leaf(`+47 900 ${String(10_000 + (index % 90_000))}`) },
    ],
    ims: [],
    addresses: [
      {
        type: 'work',
        parts: { street: leaf(`Main Street ${(index % 250) + 1}`), locality: leaf(pick(locations, 6)) },
      },
    ],
    groups: [
      { ref: groupId('security group', 0), name: '' },
      { type: 'security group', name: 'Remote access' },
    ],
    additionalfields: [
      { id: 'costcentre', ...leaf(`CC-${1000 + (index % 700)}`) },
      { id: 'badge', ...leaf(`B${index + 1}`) },
    ],
  };
}

function personLeaves(
  profile: GeneratedProfile,
  index: number,
  first: string,
  last: string,
  username: string,
): Partial<Record<LeafName, Leaf>> {
  const pick = picker(profile.seed ?? 1, index);
  const isBlanked = isChosen(profile, index, 'blanked');
  return {
    active: leaf(isChosen(profile, index, 'disabled') ? 'false' : 'true'),
    userType: leaf('Intranet User'),
    ...(isChosen(profile, index, 'passwords') ? { password: leaf(`Pa55<&>${index + 1}`) } : {}),
    firstname: leaf(first),
    surname: leaf(last),
    displayname: leaf(`${first} ${last}`),
    email: leaf(username),
    jobtitle: isBlanked ? { value: '', applyBlank: true } : leaf(pick(jobTitles, 7)),
    employeenumber: leaf(String(100_000 + index)),
    jobstartdate: leaf(`20${String(10 + (index % 14))}-0${1 + (index % 9)}-01`),
    culture: leaf(pick(cultures, 8)),
    timezone: leaf(pick(zones, 9)),
    bio: leaf(`Joined as number ${index + 1}. Likes <mountains> & long walks.`),
  };
}

/** Every tenth user leads the nine that follow and the ten before: so managers come earlier and later. */
function managerLeaf(profile: GeneratedProfile, index: number): Partial<Record<LeafName, Leaf>> {
  const lead = (index % 20 < 10 ? index - (index % 10) + 10 : index - (index % 10)) + 1;
  return lead === index + 1 || lead > profile.users ? {} : { manager: leaf(`p${lead}`) };
}

function picker(seed: number, index: number): (words: readonly string[], salt: number) => string {
  return (words, salt) => words[Math.floor(chance(seed, index, salt) * words.length)] ?? '';
}

function leaf(value: string): Leaf {
  return { value, applyBlank: false };
}
