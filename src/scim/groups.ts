import { Elysia } from 'elysia';
import type { Group } from '../directory/group-store.ts';
import type { Groups } from '../directory/groups.ts';
import { groupView } from '../directory/resource-view.ts';
import { toETag } from '../directory/version.ts';
import { list, noContent, projectionOf, resource, shown } from './answer.ts';
import type { OpenCall, ScimCall } from './call.ts';
import { decodePatch, decodeResource, patchOptions, toResourceId } from './decode.ts';
import { listQuery } from './list-query.ts';
import { resourceOperations } from './operations.ts';
import { ifMatch } from './users.ts';

const raw = { parse: 'none' } as const;

/** A larger group is not sent back after every change of one member (RFC 7644 §3.5.2 allows 204). */
const membersInAnswerMax = 1_000;

/** /Groups: RFC 7644 §3.3 to §3.6 over the directory's groups. */
export function groups(directory: Groups, open: OpenCall) {
  const answer = answerFrom(directory);
  const answerToChange = answerToChangeFrom(directory);
  const operations = resourceOperations('Group');
  return new Elysia({ name: 'scim.groups', prefix: '/Groups' })
    .get('', async ({ request }) => listAnswer(request, await open(request), directory), {
      detail: operations.list,
    })
    .post(
      '',
      async ({ request }) => {
        const call = await open(request);
        const body = await decodeResource(request, call, call.context.configuration.groupType, 'create');
        const { outcome, resource: group } = await directory.create(
          call.context,
          body,
          call.source.settings.onMatch,
        );
        return answer(request, call, group, outcome === 'created' ? 201 : 200);
      },
      { ...raw, detail: operations.create },
    )
    .get(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        return answer(request, call, await directory.get(call.context, toResourceId(params.id)));
      },
      { detail: operations.get },
    )
    .put(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        const body = await decodeResource(request, call, call.context.configuration.groupType, 'replace');
        const group = await directory.replace(call.context, toResourceId(params.id), body, ifMatch(request));
        return answerToChange(request, call, group);
      },
      { ...raw, detail: operations.replace },
    )
    .patch(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        const operations = await decodePatch(request, call, call.context.configuration.groupType);
        const options = { ...patchOptions(call), ifMatch: ifMatch(request) };
        const group = await directory.patch(call.context, toResourceId(params.id), operations, options);
        return answerToChange(request, call, group);
      },
      { ...raw, detail: operations.patch },
    )
    .delete(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        await directory.delete(call.context, toResourceId(params.id), ifMatch(request));
        return noContent();
      },
      { detail: operations.delete },
    );
}

async function listAnswer(request: Request, call: ScimCall, directory: Groups): Promise<Response> {
  const { groupType } = call.context.configuration;
  const projection = projectionOf(call, groupType, ['members']);
  const page = await directory.query(call.context, listQuery(call, groupType));
  const views = page.resources.map(async (group) => {
    const members = projection.shows('members') ? await directory.members(call.context, group.id) : undefined;
    return shown(groupType, groupView(group, members, call.link), projection);
  });
  return list(request, { ...page, resources: await Promise.all(views) });
}

function answerToChangeFrom(directory: Groups) {
  const answer = answerFrom(directory);
  return async (request: Request, call: ScimCall, group: Group): Promise<Response> => {
    const isLarge = (await directory.countMembers(group.id)) > membersInAnswerMax;
    return isLarge ? noContent({ etag: toETag(group.version) }) : answer(request, call, group);
  };
}

function answerFrom(directory: Groups) {
  return async (request: Request, call: ScimCall, group: Group, status = 200): Promise<Response> => {
    const { groupType } = call.context.configuration;
    const projection = projectionOf(call, groupType);
    const members = projection.shows('members') ? await directory.members(call.context, group.id) : undefined;
    const view = groupView(group, members, call.link);
    return resource(request, { resourceType: groupType, view, projection, version: group.version }, status);
  };
}
