import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { insertRun } from '../../src/imports/run-store.ts';
import { type AdminApp, openAdminApp } from '../admin/support.ts';
import { Browser, executablePath, picture, testMsMax } from './browser.ts';

const password = 'correct horse battery staple';

async function addSourcesAndRuns(app: AdminApp): Promise<void> {
  await app.sources.create('scim', 'Entra ID');
  const { source } = await app.sources.create('general', '<b>HR</b> & payroll of the whole organisation');
  await app.sources.create('general', 'Old HR');
  await app.sources.change('Old HR', { active: false });
  const now = app.clock().toISOString();
  const run = { sourceId: source.id, origin: 'upload', dryRun: false, groups: 0, now, warnings: [] } as const;
  const file = { document: 'd', archive: 'a', sha256: '0'.repeat(64), circumstances: '', bytes: 9 };
  for (const users of [12, 1_204, 20_000]) {
    await app.database.write((tx) => insertRun(tx, { ...run, ...file, users }));
  }
  const message = '4,100 of 20,000 users would be disabled, more than 15 % allow.';
  const update = (id: number, values: { status: string; message?: string; counts?: string }) =>
    app.database.write((tx) => tx.updateTable('import_run').set(values).where('id', '=', id).execute());
  await update(1, { status: 'failed', message: 'The disk was full.' });
  await update(2, { status: 'completed', counts: countsOf(1_190, 14) });
  await update(3, { status: 'awaiting-approval', message });
}

/** Runs in the page: how a screen reader calls what has the focus. */
function focused(): string {
  const element = document.activeElement;
  const label = element instanceof HTMLInputElement ? element.labels?.[0]?.textContent : undefined;
  return label ?? element?.getAttribute('aria-label') ?? element?.textContent ?? '';
}

function countsOf(created: number, updated: number): string {
  const others = { reactivated: 0, disabled: 0, archived: 0, unchanged: 0, skipped: 0, issues: 0 };
  return JSON.stringify({ created, updated, ...others, groupsCreated: 0, groupsUpdated: 0, passwordsSet: 0 });
}

describe.skipIf(executablePath === undefined)('the console', () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await Browser.open();
    page = browser.page;
  }, testMsMax);

  afterAll(() => browser[Symbol.asyncDispose]());

  const heading = () => page.getByRole('heading', { level: 1 }).textContent();
  const sees = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  test(
    'leads from the one-time link to Home, out, and in again',
    async () => {
      await using app = await openAdminApp();
      const { token } = await app.invitations.issue('Administrator');
      await page.goto(`${app.origin}/console/#invite=${token}`);
      await sees('Set up your account');
      expect(page.url()).toBe(`${app.origin}/console/`);
      expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
      await picture(page, 'set-up');

      await page.getByLabel('Name').fill('Ann Lee');
      await page.getByLabel('Password', { exact: true }).fill('short');
      await page.getByRole('button', { name: 'Make the account' }).click();
      expect(
        await page
          .getByLabel('Password', { exact: true })
          .evaluate((input: HTMLInputElement) => input.validity.tooShort),
      ).toBe(true);
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Show password' }).click();
      expect(await page.getByLabel('Password', { exact: true }).getAttribute('type')).toBe('text');
      await page.getByLabel('Password', { exact: true }).press('Enter');
      await sees('Home');
      await page.getByText('There is no source yet.').waitFor();
      await page.getByText('No document has been imported yet.').waitFor();
      await picture(page, 'home-empty');

      const [cookie] = await browser.cookies();
      expect(cookie).toMatchObject({ name: 'rollcall', httpOnly: true, sameSite: 'Strict', path: '/' });
      expect(await page.evaluate(() => document.cookie)).toBe('');

      await addSourcesAndRuns(app);
      await page.reload();
      await sees('Home');
      await page.getByRole('cell', { name: '/of/scim/1' }).waitFor();
      await page.getByText('Waits for approval').first().waitFor();
      expect(await page.getByRole('table', { name: 'Profile sources' }).getByRole('row').count()).toBe(4);
      expect(await page.getByRole('cell', { name: '<b>HR</b> & payroll' }).first().textContent()).toContain(
        '<b>',
      );
      await picture(page, 'home');
      await page.setViewportSize({ width: 320, height: 640 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
      await page.setViewportSize({ width: 1280, height: 800 });

      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await sees('Sign in');
      expect(await browser.cookies()).toEqual([]);
      await page.getByLabel('Name').fill('ann lee');
      await page.getByLabel('Password', { exact: true }).fill('not this one');
      await page.getByLabel('Password', { exact: true }).press('Enter');
      await page.getByText('The name or the password is wrong.').waitFor();
      await picture(page, 'sign-in-refused');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await sees('Home');
      await page.getByText('Signed in as Ann Lee').waitFor();
      expect(browser.complaints).toEqual([]);
      expect(app.logged).not.toContain(password);
    },
    testMsMax,
  );

  test(
    'says of a used link that it has been used, and where to go',
    async () => {
      await using app = await openAdminApp();
      const { token } = await app.invitations.issue('Ann');
      await app.call('/entry/accept', { token, name: 'Ann', password });
      await page.goto(`${app.origin}/console/#invite=${token}`);
      await sees('This link cannot be used');
      await page.getByText('has been used, has expired or does not exist').waitFor();
      await picture(page, 'used-link');
      await page.getByRole('button', { name: 'Go to sign-in' }).click();
      await sees('Sign in');
    },
    testMsMax,
  );

  test(
    'asks to sign in again once the session has ended',
    async () => {
      await using app = await openAdminApp();
      await app.setUp('Ann');
      await page.goto(`${app.origin}/console/`);
      await sees('Sign in');
      await page.getByLabel('Name').fill('Ann');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.keyboard.press('Enter');
      await sees('Home');
      app.clock.advance(31 * 60);
      // Home looks for news by itself.
      await page.getByText('Your session has ended; sign in again.').waitFor();
      expect(await heading()).toBe('Sign in');
    },
    testMsMax,
  );

  test(
    'can be worked without a mouse',
    async () => {
      await using app = await openAdminApp();
      await app.setUp('Ann');
      await page.goto(`${app.origin}/console/`);
      await sees('Sign in');
      const seen: string[] = [];
      for (let index = 0; index < 4; index += 1) {
        await page.keyboard.press('Tab');
        seen.push(await page.evaluate(focused));
        if (seen.at(-1) === 'Name') await page.keyboard.type('Ann');
        if (seen.at(-1) === 'Password') await page.keyboard.type(password);
      }
      expect(seen).toEqual(['Name', 'Password', 'Show password', 'Sign in']);
      await page.keyboard.press('Enter');
      await sees('Home');
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Home');
    },
    testMsMax,
  );

  test(
    'says that the service cannot be reached, and tries again',
    async () => {
      await using app = await openAdminApp();
      await page.route('**/api/admin/v1/me', (route) => route.abort());
      await page.goto(`${app.origin}/console/`);
      await page.getByText('The service cannot be reached.').waitFor();
      await page.unroute('**/api/admin/v1/me');
      await page.getByRole('button', { name: 'Try again' }).click();
      await sees('Sign in');
    },
    testMsMax,
  );
});
