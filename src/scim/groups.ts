import { Elysia } from 'elysia';
import type { Group } from '../directory/group-store.ts';
import type { Groups } from '../directory/groups.ts';
import { groupView, userAddress } from '../directory/resource-view.ts';
import { noContent, notModified, projectionOf, resource, tagOf } from './answer.ts';
import { readScimBody } from './body.ts';
import type { OpenCall, ScimCall } from './call.ts';
import { toResourceId } from './decode.ts';
import type { AnswerList } from './list-answer.ts';
import { parametersOfQuery } from './list-parameters.ts';
import { resourceOperations } from './operations.ts';
import { groupVerbs, targetOf } from './verbs.ts';

const raw = { parse: 'none' } as const;

/** A larger group is not sent back after every change of one member (RFC 7644 §3.5.2 allows 204). */
const membersInAnswerMax = 1_000;

/** /Groups: RFC 7644 §3.3 to §3.6 over the directory's groups. */
export function groups(directory: Groups, open: OpenCall, answerList: AnswerList) {
  const verbs = groupVerbs(directory);
  const answer = answerFrom(directory);
  const answerToChange = answerToChangeFrom(directory);
  const operations = resourceOperations('Group');
  return new Elysia({ name: 'scim.groups', prefix: '/Groups' })
    .get(
      '',
      async ({ request }) => {
        const call = await open(request);
        return answerList(request, call, parametersOfQuery(call.query));
      },
      { detail: operations.list },
    )
    .post(
      '',
      async ({ request }) => {
        const call = await open(request);
        const body = verbs.readResource(call, await readScimBody(request, call), 'create');
        const { outcome, resource: group } = await verbs.create(call, body);
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
        const body = verbs.readResource(call, await readScimBody(request, call), 'replace');
        return answerToChange(request, call, await verbs.replace(call, targetOf(request, params.id), body));
      },
      { ...raw, detail: operations.replace },
    )
    .patch(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        const changes = verbs.readPatch(call, await readScimBody(request, call));
        return answerToChange(request, call, await verbs.patch(call, targetOf(request, params.id), changes));
      },
      { ...raw, detail: operations.patch },
    )
    .delete(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        await verbs.delete(call, targetOf(request, params.id));
        return noContent();
      },
      { detail: operations.delete },
    );
}

function answerToChangeFrom(directory: Groups) {
  const answer = answerFrom(directory);
  return async (request: Request, call: ScimCall, group: Group): Promise<Response> => {
    const isLarge =
      mayAnswerNothing(request, call) && (await directory.hasMoreMembersThan(group.id, membersInAnswerMax));
    return isLarge ? noContent({ etag: tagOf(call, group.version) }) : answer(request, call, group);
  };
}

/**
 * RFC 7644 §3.5.2 gives a PATCH 204, but not one that names attributes. It does not give it to a PUT (§3.5.1): that
 * one is ours, for sources that are not held to the words.
 */
function mayAnswerNothing(request: Request, call: ScimCall): boolean {
  const isAllowed = request.method === 'PATCH' || call.isCompat;
  return (
    isAllowed &&
    projectionOf(call, call.context.configuration.groupType).shows('members') &&
    !namesAttributes(call)
  );
}

function namesAttributes({ query }: ScimCall): boolean {
  return (query.get('attributes') ?? '').trim() !== '';
}

function answerFrom(directory: Groups) {
  return async (request: Request, call: ScimCall, group: Group, status = 200): Promise<Response> => {
    // Before the members are read: of a large group they are megabytes.
    const unchanged = notModified(request, tagOf(call, group.version));
    if (unchanged !== undefined) return unchanged;
    const { configuration } = call.context;
    const { groupType } = configuration;
    const projection = projectionOf(call, groupType);
    const answered = { resourceType: groupType, projection };
    if (projection.isDefault) {
      const members = await directory.membersText(call.context, group, userAddress(call.link));
      const view = groupView(group, configuration, call.link);
      return resource(request, { ...answered, view, members }, status);
    }
    const members = projection.shows('members') ? await directory.members(call.context, group.id) : undefined;
    const view = groupView({ ...group, members }, configuration, call.link);
    return resource(request, { ...answered, view }, status);
  };
}
