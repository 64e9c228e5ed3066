import { type SqlBool, sql } from 'kysely';
import { additionalFieldsUrn, coreUserUrn, enterpriseUserUrn, platformUserUrn } from '../resource/schema.ts';
import {
  constantValue,
  element,
  type FilterScope,
  holderOf,
  isSeen,
  linkTo,
  metaPlace,
  type Places,
} from './filter-sql-derived.ts';
import { documentPlace, hasAdditionalField, hasExtension, shownNameKey } from './filter-sql-document.ts';
import {
  all,
  alternatives,
  always,
  type Condition,
  type Holder,
  noValue,
  nowhere,
  or,
  type Place,
  rows,
  single,
} from './filter-sql-place.ts';
import { activeValue, idValue, lowerCase, textValue } from './filter-sql-value.ts';
import type { UnitType } from './organisation.ts';

const simple = (value: Parameters<typeof single>[0]) => ({ value, place: () => nowhere });
const userId = sql.ref('user.id');

const keyColumn =
  (name: string) =>
  ({ dialect }: FilterScope): Place =>
    single(textValue(sql.ref(name), dialect, { isIndexed: true }));

const externalId = ({ dialect, sourceId }: FilterScope): Place =>
  rows({
    from: sql`source_link as link`,
    link: { inner: sql.ref('link.resource_id'), outer: userId },
    where: sql<SqlBool>`link.resource_type = 'User' and link.source_id = ${sourceId}`,
    order: sql.ref('link.external_id'),
    element: simple(textValue(sql.ref('link.external_id'), dialect, { isIndexed: true })),
  });

const emailValues = ({ dialect }: FilterScope): Place =>
  rows({
    from: sql`user_email as email`,
    link: { inner: sql.ref('email.user_id'), outer: userId },
    order: sql`email.is_primary desc, email.ordinal`,
    element: simple(textValue(sql.ref('email.value_key'), dialect, { isIndexed: true })),
  });

const groups = (scope: FilterScope): Place => {
  const { dialect } = scope;
  const id = sql.ref('mine.group_id');
  return rows({
    from: sql`membership as mine join group_ as its on its.id = mine.group_id`,
    link: { inner: sql.ref('mine.user_id'), outer: userId },
    where: isSeen(scope, 'its.owner_source_id'),
    order: id,
    wide: scope.wide,
    element: {
      value: noValue,
      place: element({
        value: idValue(id, dialect, { isIndexed: true }),
        $ref: linkTo('Group', id, scope),
        display: textValue(sql.ref('its.display_name_key'), dialect, { isIndexed: true }),
        type: constantValue('direct', dialect),
      }),
    },
  });
};

/** Company, department or location: the display name of the group that is the user's primary one of the type. */
const unit =
  (type: UnitType) =>
  ({ dialect }: FilterScope): Place =>
    rows({
      from: sql`membership as mine join group_ as its on its.id = mine.group_id`,
      link: { inner: sql.ref('mine.user_id'), outer: userId },
      where: sql<SqlBool>`mine.primary_type = ${type}`,
      order: sql.ref('mine.group_id'),
      element: simple(textValue(sql.ref('its.display_name_key'), dialect, { isIndexed: true })),
    });

/** A user whose manager has been archived has none. */
const manager = (scope: FilterScope): Place => {
  const { dialect } = scope;
  const id = sql.ref('boss.id');
  return rows({
    from: sql`"user" as boss`,
    link: { inner: id, outer: sql.ref('user.manager_id') },
    where: sql<SqlBool>`boss.state <> 'archived' and ${isSeen(scope, 'boss.owner_source_id')}`,
    order: id,
    element: {
      value: noValue,
      place: element({
        value: idValue(id, dialect, { isIndexed: true }),
        $ref: linkTo('User', id, scope),
        displayName: textValue(shownNameKey('boss', dialect), dialect),
      }),
    },
  });
};

/** Each row is a persona that the user is in, by a group that the user is in: a persona of several groups has several. */
const personas = (scope: FilterScope): Place => {
  const { dialect } = scope;
  return rows({
    from: sql`persona join persona_group as its on its.persona_id = persona.id
      join membership as mine on mine.group_id = its.group_id join group_ as by_group on by_group.id = its.group_id`,
    link: { inner: sql.ref('mine.user_id'), outer: userId },
    where: sql<SqlBool>`${isSeen(scope, 'by_group.owner_source_id')}
      and (persona.rule = 'any' or not ${lacksGroup(scope)})`,
    order: sql.ref('persona.id'),
    element: {
      value: noValue,
      place: element({
        value: idValue(sql.ref('persona.id'), dialect, { isIndexed: true }),
        display: textValue(sql.ref('persona.name_key'), dialect, { isIndexed: true }),
        memberships: personaMemberships(scope),
      }),
    },
  });
};

/** Whether the user of the row `mine` is missing from one of the persona's groups, or not seen to be in it. */
function lacksGroup(scope: FilterScope): Condition {
  return sql<SqlBool>`exists (select 1 from persona_group as every where every.persona_id = persona.id
    and not exists (select 1 from membership as in_it join group_ as that on that.id = in_it.group_id
      where in_it.group_id = every.group_id and in_it.user_id = mine.user_id
      and ${isSeen(scope, 'that.owner_source_id')}))`;
}

function personaMemberships(scope: FilterScope): Place {
  const { dialect } = scope;
  const id = sql.ref('shown.id');
  return rows({
    from: sql`persona_group as one join membership as in_one on in_one.group_id = one.group_id
      join group_ as shown on shown.id = one.group_id`,
    link: { inner: sql.ref('one.persona_id'), outer: sql.ref('persona.id') },
    where: sql<SqlBool>`in_one.user_id = mine.user_id and ${isSeen(scope, 'shown.owner_source_id')}`,
    order: id,
    element: {
      value: noValue,
      place: element({
        value: idValue(id, dialect),
        $ref: linkTo('Group', id, scope),
        display: textValue(sql.ref('shown.display_name_key'), dialect),
        type: textValue(lowerCase(sql.ref('shown.group_type'), dialect), dialect),
      }),
    },
  });
}

/** As `withSchemas` fills it in for what the user shows. */
const schemas = (scope: FilterScope): Place => {
  const { dialect } = scope;
  const shows = (urn: string, ...derived: readonly Place[]) =>
    or([all(hasExtension(urn, 'user', dialect)), ...derived.map((place) => place.present())]).condition;
  const [company, department, location] = [unit('company'), unit('department'), unit('location')];
  const urns: [urn: string, condition: Condition][] = [
    [coreUserUrn, always],
    [enterpriseUserUrn, shows(enterpriseUserUrn, company(scope), department(scope), manager(scope))],
    [platformUserUrn, shows(platformUserUrn, company(scope), location(scope), personas(scope))],
    [additionalFieldsUrn, hasAdditionalField(scope.additionalFields, dialect)],
  ];
  return alternatives(urns.map(([urn, condition]) => ({ condition, value: constantValue(urn, dialect) })));
};

const userPlaces: Places = {
  schemas,
  id: ({ dialect }) => single(idValue(userId, dialect, { isIndexed: true })),
  externalId,
  meta: (scope) => metaPlace('User', 'user', scope),
  userName: keyColumn('user.user_name_key'),
  displayName: keyColumn('user.display_name_key'),
  'name.familyName': keyColumn('user.family_name_key'),
  active: () => single(activeValue(sql.ref('user.state'))),
  'emails.value': emailValues,
  groups,
  [`${enterpriseUserUrn}:employeeNumber`]: keyColumn('user.employee_number_key'),
  [`${enterpriseUserUrn}:organization`]: unit('company'),
  [`${enterpriseUserUrn}:department`]: unit('department'),
  [`${enterpriseUserUrn}:manager`]: manager,
  [`${platformUserUrn}:company`]: unit('company'),
  [`${platformUserUrn}:location`]: unit('location'),
  [`${platformUserUrn}:personas`]: personas,
};

/** Where the attributes of a user are, over the rows of `user`: in columns, in other tables, else in the document. */
export function userHolder(scope: FilterScope): Holder {
  return holderOf(userPlaces, scope, (attribute) => documentPlace(attribute, 'user', scope.dialect));
}
