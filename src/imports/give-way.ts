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
