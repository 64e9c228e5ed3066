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

/**
 * The console's page: open to everybody, because it holds nothing; what it shows comes from the admin API. `load` is called
 * when the page is asked for first.
 */
export function consoleSurface(load: () => Promise<ConsoleFiles>): Surface {
  const files = new FileShelf(load);
  const app = new Elysia({ name: 'console', prefix: base })
    .onError(({ error }) => toErrorResponse(error instanceof DomainError ? error : notHere()))
    .get('/', ({ request }) => files.page(basePath(admitted(request))), {
      detail: fileOperation('getConsole', 'The page of the console', 'text/html'),
    })
    .get('/page.js', ({ request }) => files.answer('script', 'text/javascript; charset=utf-8', request), {
      detail: fileOperation('getConsoleScript', 'The script of the page', 'text/javascript'),
    })
    .get('/page.css', ({ request }) => files.answer('style', 'text/css; charset=utf-8', request), {
      detail: fileOperation('getConsoleStyle', 'The style of the page', 'text/css'),
    })
    .get('/icon.svg', ({ request }) => files.answer('icon', 'image/svg+xml', request), {
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

/** The files, each packed once for the browsers that unpack, and known by an entity tag to those that have it (RFC 9110 §8.8.3). */
class FileShelf {
  readonly #load: () => Promise<ConsoleFiles>;
  readonly #packed = new Map<keyof ConsoleFiles, Uint8Array<ArrayBuffer>>();
  readonly #tags = new Map<keyof ConsoleFiles, string>();
  #files: Promise<ConsoleFiles> | undefined;

  constructor(load: () => Promise<ConsoleFiles>) {
    this.#load = load;
  }

  async page(path: string): Promise<Response> {
    const headers = { ...headersOfAll, 'content-type': 'text/html; charset=utf-8' };
    return new Response(withBase((await this.#all()).page, path), { headers });
  }

  async answer(name: keyof ConsoleFiles, type: string, { headers }: Request): Promise<Response> {
    const text = (await this.#all())[name];
    const etag = this.#tagOf(name, text);
    const common = { ...headersOfAll, etag, vary: 'accept-encoding' };
    if (headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers: common });
    const answered = { ...common, 'content-type': type };
    if (!/\bgzip\b/.test(headers.get('accept-encoding') ?? ''))
      return new Response(text, { headers: answered });
    return new Response(this.#pack(name, text), { headers: { ...answered, 'content-encoding': 'gzip' } });
  }

  #all(): Promise<ConsoleFiles> {
    this.#files ??= this.#load();
    return this.#files;
  }

  #tagOf(name: keyof ConsoleFiles, text: string): string {
    const tag =
      this.#tags.get(name) ?? `W/"${new Bun.CryptoHasher('sha256').update(text).digest('base64url')}"`;
    this.#tags.set(name, tag);
    return tag;
  }

  #pack(name: keyof ConsoleFiles, text: string): Uint8Array<ArrayBuffer> {
    const packed = this.#packed.get(name) ?? Bun.gzipSync(text);
    this.#packed.set(name, packed);
    return packed;
  }
}

function notHere(): DomainError {
  return new DomainError('notFound', 'There is nothing at this path of the console.');
}
