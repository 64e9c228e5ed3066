import { type Group, selectGroups } from '../directory/group-store.ts';
import { createGroup, updateGroupTo } from '../directory/save-group.ts';
import { platformGroupUrn } from '../resource/schema.ts';
import { isObject, type ScimObject, type ScimValue } from '../resource/value.ts';
import type { Tx } from '../storage/database.ts';
import { type Application, contextOf } from './application.ts';
import type { GroupPayload } from './plan-groups.ts';
import type { PlanRow } from './plan-store.ts';
import { issueOf } from './record-error.ts';
import type { Step } from './run-writer.ts';

/** Creates and changes the groups of the plan. */
export async function applyGroupRows(
  application: Application,
  tx: Tx,
  rows: readonly PlanRow[],
): Promise<Step> {
  const context = contextOf(application);
  const { run } = application;
  const ids = rows.flatMap((row) => row.resource_id ?? []);
  const stored = new Map((await selectGroups(tx, ids, run.sourceId)).map((group) => [group.id, group]));
  let [groupsCreated, groupsUpdated] = [0, 0];
  const gone: PlanRow[] = [];
  for (const row of rows) {
    const payload = JSON.parse(row.payload ?? '{}') as GroupPayload;
    const before = stored.get(row.resource_id ?? 0);
    if (row.action === 'create') {
      await createGroup(tx, context, toGroup(undefined, payload), run.firstGroupId + (row.ordinal ?? 0));
      groupsCreated += 1;
    } else if (before === undefined) {
      gone.push(row);
    } else {
      const after = await updateGroupTo(tx, context, before, {
        next: toGroup(before, payload),
        members: [],
      });
      groupsUpdated += after === before ? 0 : 1;
    }
  }
  const issues = gone.map((row) =>
    issueOf(row, 'recordGone', 'The group was deleted while the file was being imported; import it again.'),
  );
  return { counts: { groupsCreated, groupsUpdated }, issues };
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
