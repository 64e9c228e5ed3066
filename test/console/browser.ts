// A real browser for the tests of the console, with a profile of its own, and pictures of what it shows.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';

// Set by "npm test"; whoever runs one file by hand has Debian's.
export const executablePath = [process.env.ROLLCALL_TEST_CHROMIUM ?? '', '/usr/bin/chromium'].find((path) =>
  existsSync(path),
);
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
];
export const testMsMax = 120_000;

if (executablePath === undefined) {
  if (process.env.CI === 'true') throw new Error('no Chromium is installed: the console is untested');
  console.warn('\n!!! No Chromium is installed: THE CONSOLE IS NOT TESTED IN A BROWSER.\n');
}

/** A browser with a profile of its own. What it complains about is kept: a page that breaks its own policy says so. */
export class Browser implements AsyncDisposable {
  readonly complaints: string[] = [];
  readonly #context: BrowserContext;
  readonly #folder: string;
  readonly page: Page;

  private constructor(context: BrowserContext, page: Page, folder: string) {
    this.#context = context;
    this.page = page;
    this.#folder = folder;
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // A refusal by the API is an answer; the browser reports it as an error of loading.
      if (message.type() === 'error' && !message.text().includes('the server responded with a status of'))
        this.complaints.push(message.text());
    });
  }

  static async open(): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), 'rollcall-browser-'));
    const context = await chromium.launchPersistentContext(folder, {
      executablePath: executablePath ?? '',
      args: [...args, '--disable-sync', '--no-first-run'],
      viewport: { width: 1280, height: 800 },
      // A dialog that still fades in is neither seen nor judged as it will be.
      reducedMotion: 'reduce',
    });
    context.setDefaultTimeout(45_000);
    return new Browser(context, context.pages()[0] ?? (await context.newPage()), folder);
  }

  cookies() {
    return this.#context.cookies();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Keeps a picture of the page, light, dark and as on a phone, where ROLLCALL_TEST_ARTEFACTS says. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.ROLLCALL_TEST_ARTEFACTS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  for (const [variant, colorScheme, width, height] of [
    ['light', 'light', 1280, 800],
    ['dark', 'dark', 1280, 800],
    ['phone', 'light', 390, 844],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await page.screenshot({ path: join(folder, `${name}-${variant}.png`), fullPage: true });
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
}
