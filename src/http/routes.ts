import type { AnyElysia } from 'elysia';
import type { Operation } from './operation.ts';
import type { Route } from './surface.ts';

/** The routes that the framework has, each with what its `detail` publishes of it. */
export function routesOf(app: AnyElysia): Route[] {
  return app.routes.map(({ method, path, hooks }) => {
    const operation: Operation | undefined = hooks.detail;
    return operation === undefined ? { method, path } : { method, path, operation };
  });
}

/**
 * The methods that a path has, when it has any: an unknown method on a known path is 405, not 404. Whatever can be
 * read answers HEAD too (RFC 9110 §9.3.2).
 */
export function methodsOf(routes: readonly Route[], path: string): string[] {
  const methods = routes.filter((route) => matches(route.path, path)).map((route) => route.method);
  const known = [...new Set(methods)].filter((method) => method !== 'ALL');
  return known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

function matches(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((segment, index) => segment.startsWith(':') || segment === given[index])
  );
}
