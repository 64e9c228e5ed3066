import { describe, expect, test } from 'bun:test';
import { type AdminApp, openAdminApp } from './support.ts';

const csp =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

const files: readonly (readonly [path: string, type: string, holds: string])[] = [
  ['/console/', 'text/html; charset=utf-8', '<title>Rollcall</title>'],
  ['/console', 'text/html; charset=utf-8', '<title>Rollcall</title>'],
  ['/console/page.js', 'text/javascript; charset=utf-8', '/entry/invitation'],
  ['/console/page.css', 'text/css; charset=utf-8', 'color-scheme'],
  ['/console/icon.svg', 'image/svg+xml', '<svg'],
];

describe('GET /console', () => {
  test.each(files)('serves %s with the headers of a page that trusts nobody', async (path, type, holds) => {
    await using app = await openAdminApp();
    const response = await get(app, path);
    const { headers } = response;
    expect([response.status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('content-security-policy')).toBe(csp);
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('set-cookie')).toBeNull();
    expect(await response.text()).toContain(holds);
  });

  test('names only files of its own, and holds no script or style inline', async () => {
    await using app = await openAdminApp();
    const page = await (await get(app, '/console/')).text();
    const named = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url);
    expect(new Set(named)).toEqual(new Set(['/console/icon.svg', '/console/page.css', '/console/page.js']));
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/);
    expect(page).not.toContain('{{');
  });

  test('is where the root leads', async () => {
    await using app = await openAdminApp();
    const response = await get(app, '/');
    expect([response.status, response.headers.get('location')]).toEqual([302, '/console/']);
  });

  test('has no other files', async () => {
    await using app = await openAdminApp();
    const response = await get(app, '/console/page.ts');
    expect([response.status, await response.json()]).toEqual([
      404,
      { message: 'There is nothing at this path of the console.' },
    ]);
  });
});

function get(app: AdminApp, path: string): Promise<Response> {
  return fetch(app.origin + path, { redirect: 'manual' });
}
