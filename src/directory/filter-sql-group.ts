import { type SqlBool, sql } from 'kysely';
import { coreGroupUrn, platformGroupUrn } from '../resource/schema.ts';
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
import { documentPlace, shownNameKey } from './filter-sql-document.ts';
import {
  alternatives,
  always,
  type Condition,
  type Element,
  type Holder,
  noValue,
  nowhere,
  type Place,
  rows,
  type Sql,
  single,
} from './filter-sql-place.ts';
import { idValue, lowerCase, textValue } from './filter-sql-value.ts';

const groupId = sql.ref('group_.id');

const externalId = ({ dialect, sourceId }: FilterScope): Place =>
  rows({
    from: sql`source_link as link`,
    link: { inner: sql.ref('link.resource_id'), outer: groupId },
    where: sql<SqlBool>`link.resource_type = 'Group' and link.source_id = ${sourceId}`,
    order: sql.ref('link.external_id'),
    element: {
      value: textValue(sql.ref('link.external_id'), dialect, { isIndexed: true }),
      place: () => nowhere,
    },
  });

const memberId = sql.ref('theirs.user_id');
const memberRows = sql`membership as theirs join "user" as member on member.id = theirs.user_id`;

function memberParts(scope: FilterScope): Element {
  const { dialect } = scope;
  return {
    value: noValue,
    place: element({
      value: idValue(memberId, dialect, { isIndexed: true }),
      $ref: linkTo('User', memberId, scope),
      display: textValue(shownNameKey('member', dialect), dialect),
      type: constantValue('user', dialect),
    }),
  };
}

const members = (scope: FilterScope): Place =>
  rows({
    from: memberRows,
    link: { inner: sql.ref('theirs.group_id'), outer: groupId },
    where: isSeen(scope, 'member.owner_source_id'),
    order: memberId,
    wide: scope.wide,
    element: memberParts(scope),
  });

/** Ids of those members of one group who meet the condition that `condition` makes for each, and who may be seen. */
export function membersWhere(
  scope: FilterScope,
  group: number,
  condition: (member: Holder) => Condition,
): Sql {
  return sql`select ${memberId} from ${memberRows} where theirs.group_id = ${group}
    and ${isSeen(scope, 'member.owner_source_id')} and ${condition(memberParts(scope))}`;
}

/** Each persona that is defined over the group. */
const personas = ({ dialect }: FilterScope): Place =>
  rows({
    from: sql`persona join persona_group as its on its.persona_id = persona.id`,
    link: { inner: sql.ref('its.group_id'), outer: groupId },
    order: sql.ref('persona.id'),
    element: {
      value: noValue,
      place: element({
        value: idValue(sql.ref('persona.id'), dialect, { isIndexed: true }),
        display: textValue(sql.ref('persona.name_key'), dialect, { isIndexed: true }),
      }),
    },
  });

/** Every group has a type, and with it the platform's extension. */
const schemas = ({ dialect }: FilterScope): Place =>
  alternatives(
    [coreGroupUrn, platformGroupUrn].map((urn) => ({
      condition: always,
      value: constantValue(urn, dialect),
    })),
  );

const groupPlaces: Places = {
  schemas,
  id: ({ dialect }) => single(idValue(groupId, dialect, { isIndexed: true })),
  externalId,
  meta: (scope) => metaPlace('Group', 'group_', scope),
  displayName: ({ dialect }) =>
    single(textValue(sql.ref('group_.display_name_key'), dialect, { isIndexed: true })),
  members,
  [`${platformGroupUrn}:groupType`]: ({ dialect }) =>
    single(textValue(lowerCase(sql.ref('group_.group_type'), dialect), dialect)),
  [`${platformGroupUrn}:personas`]: personas,
};

/** Where the attributes of a group are, over the rows of `group_`: in columns, in other tables, else in the document. */
export function groupHolder(scope: FilterScope): Holder {
  return holderOf(groupPlaces, scope, (attribute) => documentPlace(attribute, 'group_', scope.dialect));
}
