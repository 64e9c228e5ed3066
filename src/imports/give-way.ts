import { setPriority } from 'node:os';

/** Of 19, which stands for "when nobody else wants it": on a machine that is busy with other things, work still goes on. */
const niceness = 10;

/**
 * Lets a child process that has just been started compute after the one that serves requests: on few processors it would
 * otherwise make each of them wait for its time slice.
 */
export function giveWay(pid: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // It has ended already, or the system does not let us: then both run alike.
  }
}

/**
 * For the environment of such a child: its garbage is collected as on a machine of this much memory, of which its heap is
 * to take a part. It would otherwise grow to twice what it needs, as long as the machine has some left.
 */
export function modestMemory(mebibytes: number): Readonly<Record<string, string>> {
  return { BUN_JSC_forceRAMSize: String(mebibytes * 1024 * 1024) };
}
