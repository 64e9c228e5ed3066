import { Elysia } from 'elysia';
import { DomainError } from '../errors.ts';
import { routesOf } from '../http/routes.ts';
import { admitted, basePath, type Surface } from '../http/surface.ts';
import { toErrorResponse } from './errors.ts';
import { fileOperation } from './openapi.ts';

/** The files of the console, as texts. In the page, `{{base}}` stands where the path of the public URL goes. */
export interface ConsoleFiles {
  readonly page: string;
  readonly script: string;
  readonly style: string;
  readonly icon: string;
}

const base = '/console';
const idleTimeoutSeconds = 15;

const headersOfAll: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The console's page: open to everybody, because it holds nothing; what it shows comes from the admin API. */
export function consoleSurface({ page, script, style, icon }: ConsoleFiles): Surface {
  const app = new Elysia({ name: 'console', prefix: base })
    .onError(({ error }) => toErrorResponse(error instanceof DomainError ? error : notHere()))
    .get(
      '/',
      ({ request }) => file(withBase(page, basePath(admitted(request))), 'text/html; charset=utf-8'),
      {
        detail: fileOperation('getConsole', 'The page of the console', 'text/html'),
      },
    )
    .get('/page.js', () => file(script, 'text/javascript; charset=utf-8'), {
      detail: fileOperation('getConsoleScript', 'The script of the page', 'text/javascript'),
    })
    .get('/page.css', () => file(style, 'text/css; charset=utf-8'), {
      detail: fileOperation('getConsoleStyle', 'The style of the page', 'text/css'),
    })
    .get('/icon.svg', () => file(icon, 'image/svg+xml'), {
      detail: fileOperation('getConsoleIcon', 'The icon of the page', 'image/svg+xml'),
    })
    .all('/*', () => {
      throw notHere();
    });
  return {
    name: 'console',
    base,
    routes: routesOf(app),
    idleTimeoutSeconds,
    authenticate: async () => ({ kind: 'public' }),
    handle: async (request) => app.handle(request),
    refuse: (error) => toErrorResponse(error),
  };
}

/** The path stands in attributes, hence the escape. */
function withBase(text: string, path: string): string {
  return text.replaceAll('{{base}}', () => path.replaceAll('&', '&amp;'));
}

function file(text: string, type: string): Response {
  return new Response(text, { headers: { ...headersOfAll, 'content-type': type } });
}

function notHere(): DomainError {
  return new DomainError('notFound', 'There is nothing at this path of the console.');
}
