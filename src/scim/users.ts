import { Elysia } from 'elysia';
import { userView } from '../directory/resource-view.ts';
import type { User } from '../directory/user.ts';
import { textOfUser } from '../directory/user-text.ts';
import type { Users } from '../directory/users.ts';
import { noContent, projectionOf, resource, resourceText, tagOf } from './answer.ts';
import { readScimBody } from './body.ts';
import type { OpenCall, ScimCall } from './call.ts';
import { toResourceId } from './decode.ts';
import type { AnswerList } from './list-answer.ts';
import { parametersOfQuery } from './list-parameters.ts';
import { resourceOperations } from './operations.ts';
import { targetOf, userVerbs } from './verbs.ts';

const raw = { parse: 'none' } as const;

/** /Users: RFC 7644 §3.3 to §3.6 over the directory's people. */
export function users(people: Users, open: OpenCall, answerList: AnswerList) {
  const verbs = userVerbs(people);
  const operations = resourceOperations('User');
  return new Elysia({ name: 'scim.users', prefix: '/Users' })
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
        const { outcome, resource: user } = await verbs.create(call, body);
        return answer(request, call, user, outcome === 'created' ? 201 : 200);
      },
      { ...raw, detail: operations.create },
    )
    .get(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        const id = toResourceId(params.id);
        const isDefault = projectionOf(call, call.context.configuration.userType).isDefault;
        if (isDefault) {
          const { version, text } = await people.getText(call.context, call.link, id);
          return resourceText(request, { tag: tagOf(call, version), text });
        }
        return answer(request, call, await people.get(call.context, id));
      },
      { detail: operations.get },
    )
    .put(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        const body = verbs.readResource(call, await readScimBody(request, call), 'replace');
        return answer(request, call, await verbs.replace(call, targetOf(request, params.id), body));
      },
      { ...raw, detail: operations.replace },
    )
    .patch(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        const changes = verbs.readPatch(call, await readScimBody(request, call));
        return answer(request, call, await verbs.patch(call, targetOf(request, params.id), changes));
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

function answer(request: Request, call: ScimCall, user: User, status = 200): Response {
  const { configuration } = call.context;
  const { userType } = configuration;
  const projection = projectionOf(call, userType);
  if (projection.isDefault) {
    const text = textOfUser(user, configuration, call.link);
    const location = call.link('User', user.id);
    return resourceText(request, { tag: tagOf(call, user.version), text, location }, status);
  }
  const view = userView(user, configuration, call.link);
  return resource(request, { resourceType: userType, view, projection }, status);
}
