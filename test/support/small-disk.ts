import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system of this size that is gone with the test; the right to make one is root's. */
export function smallDisk(bytes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-small-'));
  const mount = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]);
  return {
    folder,
    isMounted: mount.exitCode === 0,
    [Symbol.dispose]() {
      if (mount.exitCode === 0) Bun.spawnSync(['umount', folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Where it is false, tests of a full disk are reported as skipped. */
export function canMount(): boolean {
  using disk = smallDisk(1024 * 1024);
  return disk.isMounted;
}

const pieceBytes = 4 * 1024;
const piecesMax = 8_192;

/** Writes to this file until nothing more fits on its disk. */
export function fillDisk(path: string): void {
  const piece = Buffer.alloc(pieceBytes);
  try {
    for (let pieces = 0; pieces < piecesMax; pieces += 1) writeFileSync(path, piece, { flag: 'a' });
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error;
  }
}
