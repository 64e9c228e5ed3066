// Bundles the console's page for a browser. It is a macro: it runs when the program is built, and its result is in the program.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Script and style of the page, whole: the page asks for nothing else. */
export function bundleConsole(): { script: string; style: string } {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-console-'));
  try {
    const words = ['build', join(import.meta.dir, 'main.tsx'), '--outdir', folder];
    const how = ['--target=browser', '--production'];
    const { exitCode, stderr } = Bun.spawnSync([process.execPath, ...words, ...how], { stderr: 'pipe' });
    if (exitCode !== 0) throw new Error(`the console does not build: ${stderr.toString()}`);
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    return { script: read('main.js'), style: read('main.css') };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
