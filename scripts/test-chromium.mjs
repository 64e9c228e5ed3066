// A real browser for the tests of the console: the one on the machine, else Debian's package.

import { existsSync } from 'node:fs';
import { installPackage } from './system-packages.mjs';

const paths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const otherwise = 'Chromium was not found. Install it, or run as root on Debian or Ubuntu.';

/** Tests start and end the browser themselves; what they need is its path. */
export async function findChromium() {
  if (!paths.some((path) => existsSync(path))) installPackage('chromium', otherwise);
  const path = paths.find((each) => existsSync(each));
  if (path === undefined)
    throw new Error('apt-get installed the package chromium, but no browser came with it.');
  return { url: path, stop: async () => undefined };
}
