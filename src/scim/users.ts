import { Elysia } from 'elysia';
import { userView } from '../directory/resource-view.ts';
import type { User } from '../directory/user.ts';
import type { Users } from '../directory/users.ts';
import { list, noContent, projectionOf, resource, shown } from './answer.ts';
import type { OpenCall, ScimCall } from './call.ts';
import { decodePatch, decodeResource, patchOptions, toResourceId } from './decode.ts';
import { listQuery } from './list-query.ts';
import { resourceOperations } from './operations.ts';

const raw = { parse: 'none' } as const;

/** /Users: RFC 7644 §3.3 to §3.6 over the directory's people. */
export function users(people: Users, open: OpenCall) {
  const operations = resourceOperations('User');
  return new Elysia({ name: 'scim.users', prefix: '/Users' })
    .get('', async ({ request }) => listAnswer(request, await open(request), people), {
      detail: operations.list,
    })
    .post(
      '',
      async ({ request }) => {
        const call = await open(request);
        const body = await decodeResource(request, call, call.context.configuration.userType, 'create');
        const { outcome, resource: user } = await people.create(
          call.context,
          body,
          call.source.settings.onMatch,
        );
        return answer(request, call, user, outcome === 'created' ? 201 : 200);
      },
      { ...raw, detail: operations.create },
    )
    .get(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        return answer(request, call, await people.get(call.context, toResourceId(params.id)));
      },
      { detail: operations.get },
    )
    .put(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        const body = await decodeResource(request, call, call.context.configuration.userType, 'replace');
        const user = await people.replace(call.context, toResourceId(params.id), body, ifMatch(request));
        return answer(request, call, user);
      },
      { ...raw, detail: operations.replace },
    )
    .patch(
      '/:id',
      async ({ request, params }) => patchAnswer(request, await open(request), people, params.id),
      { ...raw, detail: operations.patch },
    )
    .delete(
      '/:id',
      async ({ request, params }) => {
        const call = await open(request);
        await people.delete(call.context, toResourceId(params.id), ifMatch(request));
        return noContent();
      },
      { detail: operations.delete },
    );
}

async function listAnswer(request: Request, call: ScimCall, people: Users): Promise<Response> {
  const { userType, personas } = call.context.configuration;
  const projection = projectionOf(call, userType);
  const page = await people.query(call.context, listQuery(call, userType));
  const resources = page.resources.map((user) =>
    shown(userType, userView(user, personas, call.link), projection),
  );
  return list(request, { ...page, resources });
}

async function patchAnswer(request: Request, call: ScimCall, people: Users, id: string): Promise<Response> {
  const operations = await decodePatch(request, call, call.context.configuration.userType);
  const options = { ...patchOptions(call), ifMatch: ifMatch(request) };
  const { user, result } = await people.patch(call.context, toResourceId(id), operations, options);
  call.trace.ignored.push(...result.ignored);
  note(call, 'element-created-for-value-path', result.createdForPaths);
  note(call, 'bare-extension-name', result.bareNames);
  return answer(request, call, user);
}

function answer(request: Request, call: ScimCall, user: User, status = 200): Response {
  const { userType, personas } = call.context.configuration;
  const view = userView(user, personas, call.link);
  const projection = projectionOf(call, userType);
  return resource(request, { resourceType: userType, view, projection, version: user.version }, status);
}

export function ifMatch(request: Request): string | undefined {
  return request.headers.get('if-match') ?? undefined;
}

export function note(call: ScimCall, code: string, whats: readonly string[]): void {
  for (const what of whats) call.trace.repairs.push({ code, what });
}
