import type { DirectoryContext } from '../directory/context.ts';
import { findGroupsByNameKeys, type Group, selectGroups } from '../directory/group-store.ts';
import { createGroup, updateGroupTo } from '../directory/save-group.ts';
import { canonicalKey } from '../resource/canonical-key.ts';
import { platformGroupUrn } from '../resource/schema.ts';
import { isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import type { Tx } from '../storage/database.ts';
import { lockInPassing } from '../storage/row-lock.ts';
import { type Application, contextOf } from './application.ts';
import { addCounts, noCounts } from './imports.ts';
import type { GroupPayload } from './plan-groups.ts';
import { type PlanRow, setAction, settleRow, updateRow } from './plan-store.ts';
import { issueOf, nameTaken } from './record-error.ts';
import type { Step } from './run-writer.ts';

interface Writing {
  readonly application: Application;
  readonly tx: Tx;
  readonly context: DirectoryContext;
}

/** Creates and changes the groups of the plan. */
export async function applyGroupRows(
  application: Application,
  tx: Tx,
  rows: readonly PlanRow[],
): Promise<Step> {
  const writing = { application, tx, context: contextOf(application) };
  const isNew = (row: PlanRow) => row.action === 'create';
  const changed = await changeGroups(
    writing,
    rows.filter((row) => !isNew(row)),
  );
  // What is to be created is looked for when others have given up their names.
  const created = await createGroups(writing, rows.filter(isNew));
  return toStep([...changed, ...created]);
}

function toStep(steps: readonly Step[]): Step {
  return {
    counts: steps.reduce((sum, { counts = {} }) => addCounts(sum, counts), noCounts),
    issues: steps.flatMap(({ issues = [] }) => issues),
  };
}

async function changeGroups(writing: Writing, rows: readonly PlanRow[]): Promise<Step[]> {
  const stored = await selectLocked(
    writing,
    rows.flatMap((row) => row.resource_id ?? []),
  );
  const steps: Step[] = [];
  for (const row of rows) steps.push(await changeOne(writing, row, stored.get(row.resource_id ?? 0)));
  return steps;
}

async function createGroups(writing: Writing, rows: readonly PlanRow[]): Promise<Step[]> {
  const named = await findNamed(writing.tx, rows);
  const stored = await selectLocked(writing, [...named.values()]);
  const steps: Step[] = [];
  for (const row of rows) {
    const { groupType, displayName } = payloadOf(row);
    const same = stored.get(named.get(`${groupType}:${canonicalKey(displayName)}`) ?? 0);
    steps.push(await (same === undefined ? createOne(writing, row) : matchOne(writing, row, same)));
  }
  return steps;
}

async function selectLocked({ application, tx }: Writing, ids: readonly number[]) {
  await lockInPassing(tx, 'group_', ids);
  const groups = await selectGroups(tx, ids, application.run.sourceId);
  return new Map(groups.map((group) => [group.id, group]));
}

async function findNamed(tx: Tx, rows: readonly PlanRow[]): Promise<ReadonlyMap<string, number>> {
  const keys = rows.map((row) => canonicalKey(payloadOf(row).displayName));
  const hits = await findGroupsByNameKeys(tx, [...new Set(keys)]);
  return new Map(hits.map((hit) => [`${hit.group_type}:${hit.key}`, hit.id]));
}

async function createOne({ application: { run }, tx, context }: Writing, row: PlanRow): Promise<Step> {
  const resource = toGroup(undefined, payloadOf(row));
  await createGroup(tx, context, resource, run.firstGroupId + (row.ordinal ?? 0));
  return { counts: { groupsCreated: 1 } };
}

async function changeOne({ tx, context }: Writing, row: PlanRow, before: Group | undefined): Promise<Step> {
  if (before === undefined) {
    const message = 'The group was deleted while the file was being imported; import it again.';
    return { issues: [issueOf(row, 'recordGone', message)] };
  }
  // One that records only name is there, however it is spelled.
  if (row.record_id === null) return {};
  const next = toGroup(before, payloadOf(row));
  const after = await updateGroupTo(tx, context, before, { next, members: [] });
  return { counts: { groupsUpdated: after === before ? 0 : 1 } };
}

/** Somebody has created the group since it was planned: it is this one that people become members of. */
async function matchOne(writing: Writing, row: PlanRow, same: Group): Promise<Step> {
  const { application, tx } = writing;
  const { externalId } = payloadOf(row);
  const known = same.resource.externalId;
  const isOther = externalId !== undefined && known !== undefined && known !== externalId;
  await updateRow(tx, application.run.id, row.seq, { resource_id: same.id });
  if (isOther) {
    await settleRow(tx, application.run.id, row.seq, 'failed');
    return { issues: [nameTaken(row)] };
  }
  await setAction(tx, application.run.id, [row.seq], 'update');
  return changeOne(writing, row, same);
}

function payloadOf(row: PlanRow): GroupPayload {
  return JSON.parse(row.payload ?? '{}') as GroupPayload;
}

/** A description that the payload does not speak of stays. */
function toGroup(before: Group | undefined, payload: GroupPayload): ScimObject {
  const { displayName, groupType, externalId, description } = payload;
  const held = before?.resource[platformGroupUrn];
  const platform: Record<string, ScimValue> = { ...(isObject(held) ? held : { groupType }) };
  if (typeof description === 'string') platform.description = description;
  if (description === null) delete platform.description;
  return {
    ...before?.resource,
    displayName,
    ...(externalId === undefined ? {} : { externalId }),
    [platformGroupUrn]: platform,
  };
}
