import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { takeInstanceLock } from '../../src/storage/instance-lock.ts';

function lockPath() {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-lock-'));
  return { path: join(folder, 'serve.lock'), [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

describe('takeInstanceLock', () => {
  test('is had by one at a time', () => {
    using place = lockPath();
    const lock = takeInstanceLock(place.path);
    expect(lock).toBeDefined();
    expect(takeInstanceLock(place.path)).toBeUndefined();
    lock?.release();
    const next = takeInstanceLock(place.path);
    expect(next).toBeDefined();
    next?.release();
  });

  test('is free again when the process that holds it is killed', async () => {
    using place = lockPath();
    const module = join(import.meta.dir, '../../src/storage/instance-lock.ts');
    const program = `
      const { takeInstanceLock } = await import(${JSON.stringify(module)});
      globalThis.lock = takeInstanceLock(${JSON.stringify(place.path)});
      console.log(globalThis.lock === undefined ? 'refused' : 'held');
      setInterval(() => undefined, 60_000);`;
    const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe', stderr: 'inherit' });
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe('held\n');
    expect(takeInstanceLock(place.path)).toBeUndefined();
    child.kill('SIGKILL');
    await child.exited;
    const lock = takeInstanceLock(place.path);
    expect(lock).toBeDefined();
    lock?.release();
  });
});
