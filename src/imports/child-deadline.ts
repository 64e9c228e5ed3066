import { readFileSync } from 'node:fs';

const lookEveryMs = 250;
/** A child that has waited for a processor for so many times its deadline is not waited for any longer. */
const waitingFactor = 10;
/** What Linux counts by, on every architecture that it runs on here. */
const ticksPerSecond = 100;

/** What a child has done for too long. */
export type Lateness = 'computing' | 'waiting';

/**
 * Calls `onLate` when the child has computed for longer than `deadlineMs`. A child that gives way to others may wait for
 * most of its life, and nothing is wrong with its document then. Where the system does not tell, all its time counts as
 * computing. Returns what ends the watch.
 */
export function watchDeadline(
  pid: number,
  deadlineMs: number,
  onLate: (lateness: Lateness) => void,
): () => void {
  const startedMs = performance.now();
  const look = () => {
    const elapsedMs = performance.now() - startedMs;
    if ((computedMs(pid) ?? elapsedMs) > deadlineMs) onLate('computing');
    else if (elapsedMs > deadlineMs * waitingFactor) onLate('waiting');
  };
  const timer = setInterval(look, lookEveryMs);
  return () => clearInterval(timer);
}

function computedMs(pid: number): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program stands in parentheses and may hold anything. Then: state is field 3, the times 14 and 15.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
  } catch {
    return undefined;
  }
}
