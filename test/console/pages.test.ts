import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { type AdminHouse, openAdminHouse } from '../admin/house.ts';
import { adminName, adminPassword } from '../admin/support.ts';
import { profileXml, userXml } from '../imports/support.ts';
import { Browser, executablePath, picture, testMsMax } from './browser.ts';

const axe = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const people = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => i + from).map((id) =>
    userXml(`p${id}`, `p${id}@example.com`, `<firstname>Ada</firstname><surname>Berg ${id}</surname>`),
  );

/** What axe finds in the page that it calls serious or critical, as sentences. */
async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await checker.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}

describe.skipIf(executablePath === undefined)('the pages of the console', () => {
  let browser: Browser;
  let page: Page;
  let admin: AdminHouse;

  beforeAll(async () => {
    browser = await Browser.open();
    page = browser.page;
    admin = await openAdminHouse({ settings: { guardMinimum: '5', guardPercent: '10' } });
    await page.goto(`${admin.origin}/console/`);
    await page.getByLabel('Name').fill(adminName);
    await page.getByLabel('Password', { exact: true }).fill(adminPassword);
    await page.keyboard.press('Enter');
    await sees('Home');
  }, testMsMax);

  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await admin[Symbol.asyncDispose]();
  });

  const sees = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
  const open = (place: string) => page.goto(`${admin.origin}/console/#/${place}`);
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click();
  const dialog = () => page.getByRole('dialog');

  /** The page as it is, looked at by axe and kept as pictures; nothing may have broken its policy. */
  async function inspect(name: string): Promise<void> {
    await picture(page, name);
    expect(await seriousFindings(page)).toEqual([]);
    expect(browser.complaints).toEqual([]);
  }

  test(
    'make a SCIM source whose key opens the service, and show the conversation as it happens',
    async () => {
      await page.getByRole('link', { name: 'Profile sources' }).first().click();
      await sees('Manage profile sources');
      await press('Create a source');
      await dialog().getByLabel('Name').fill('Human resources');
      await dialog().getByRole('button', { name: 'Create' }).click();
      await dialog().getByText('There is a source named').waitFor();
      await dialog().getByLabel('Name').fill('Okta');
      await dialog().getByRole('button', { name: 'Create' }).click();
      const url = await dialog().getByLabel('Base URL', { exact: true }).inputValue();
      const key = await dialog().getByLabel('Key (bearer token)', { exact: true }).inputValue();
      await dialog().getByRole('button', { name: 'Go to the source' }).click();
      await sees('Okta');
      await page.getByLabel('Log Request Body in SCIM Service').check();
      await press('Save one change');
      await page.getByRole('button', { name: 'Save', exact: true }).last().waitFor();
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/scim+json' };
      const body = JSON.stringify({ userName: 'grace', password: 'do-not-show-me-9' });
      expect((await fetch(`${url}/Users`, { method: 'POST', headers, body })).status).toBe(201);
      await page.getByText('POST /Users').waitFor();
      await press('Details');
      await page.getByText('"userName":"grace"').waitFor();
      expect(await page.content()).not.toContain('do-not-show-me-9');
      await inspect('source-scim');
      await press('View key');
      expect(await page.getByRole('textbox', { name: 'Key', exact: true }).inputValue()).toBe(key);
    },
    testMsMax,
  );

  test(
    'show an import that waits, say what it would do, and let it go on or not',
    async () => {
      await admin.house.import(profileXml(people(0, 40)));
      const held = await admin.house.import(profileXml(people(20, 40)));
      await open('');
      await page.getByRole('heading', { name: 'Waiting for you' }).waitFor();
      await open(`imports/${held.id}`);
      await sees(`Import ${held.id}`);
      await press('Reject');
      await dialog().getByText('20 people stay as they are').waitFor();
      await dialog().getByRole('button', { name: 'Reject' }).click();
      await page.getByText('Rejected by Ann Lee; nothing has been changed.').waitFor();
      const next = await admin.house.import(profileXml(people(21, 41)));
      await open(`imports/${next.id}`);
      await press('Approve');
      await dialog().getByText('create 1, update 0, disable 21 and archive 0 people').waitFor();
      await inspect('import-approval');
      await dialog().getByRole('button', { name: 'Approve' }).click();
      await admin.house.processor().drain();
      await page.getByText('Completed', { exact: true }).waitFor();
      await page.getByRole('tab', { name: 'Records' }).click();
      await page.getByRole('cell', { name: 'create', exact: true }).waitFor();
      await page.getByRole('tab', { name: 'Comparison' }).click();
      await page.getByText('Added: 1').waitFor();
      await page.getByRole('tab', { name: 'Log' }).click();
      await page.getByText(adminName).last().waitFor();
      await inspect('import');
    },
    testMsMax,
  );

  test(
    'find people as one types, and tell everything about one of them',
    async () => {
      await open('users');
      await sees('Users');
      await page.getByLabel('Search').fill('Berg 7');
      await page.getByRole('link', { name: 'Ada Berg 7', exact: true }).waitFor();
      await page.getByRole('link', { name: 'Ada Berg 8', exact: true }).waitFor({ state: 'detached' });
      expect(page.url()).toContain('search=Berg');
      await inspect('users');
      await page.getByRole('link', { name: 'Ada Berg 7', exact: true }).click();
      await page.getByText('p7@example.com').first().waitFor();
      await inspect('user');
      await page.getByRole('tab', { name: 'History' }).click();
      await page.getByText('source Human Resources').first().waitFor();
      await page
        .getByRole('link', { name: /^import \d+$/ })
        .first()
        .waitFor();
      await inspect('user-history');
      await open('users/99999');
      await page.getByText('There is no user with the id 99999.').waitFor();
    },
    testMsMax,
  );

  test(
    'try a password rule before it is in force, and refuse one that does not compile',
    async () => {
      await open('settings');
      await sees('Settings');
      await page.getByLabel('Password strength regex').fill('^(?=.*\\d).{8,}$');
      await page.getByLabel('Try a password').fill('abcdefgh');
      await press('Try');
      await page.getByText('does not meet the password strength rule').waitFor();
      await page.getByLabel('Password strength regex').fill('(');
      await press(/^Save/);
      await page.getByText('missing closing parenthesis at offset 1').waitFor();
      await inspect('settings');
    },
    testMsMax,
  );

  test(
    'make a field whose id is said beforehand, and remove it only after saying what that does',
    async () => {
      await open('fields');
      await sees('Additional fields');
      await page.getByLabel('Label').fill('Badge Number');
      await page.getByText('Its id will be badge_number.').waitFor();
      await press('Make the field');
      await page.getByText('sources know it as badge_number').waitFor();
      await inspect('fields');
      await press('Remove Badge Number');
      await dialog().getByText('leaves the profile of everybody').waitFor();
      await dialog().getByRole('button', { name: 'Remove' }).click();
      await page.getByText('There are no additional fields yet.').waitFor();
      await open('audit');
      await sees('Audit log');
      await page.getByRole('cell', { name: 'field.change' }).first().waitFor();
      await inspect('audit');
    },
    testMsMax,
  );

  test.each([
    ['groups', 'Groups'],
    ['personas', 'Personas'],
    ['requests', 'Request log'],
    ['imports', 'Imports'],
    ['sources', 'Manage profile sources'],
    ['sources/1', 'Human Resources'],
    ['nowhere', 'There is no such page'],
  ])(
    'show %s',
    async (place, title) => {
      await open('');
      await sees('Home');
      await open(place);
      await sees(title);
      await page.getByText('Loading').waitFor({ state: 'detached' });
      await inspect(place.replace('/', '-'));
    },
    testMsMax,
  );
});
