import { DomainError } from '../errors.ts';
import { type InstanceLock, takeInstanceLock } from '../storage/instance-lock.ts';
import { type DataFolder, requireWritable } from './data-folder.ts';

const waitMsMax = 30_000;
const serveWaitMsMax = 250;
const pollMs = 20;

/**
 * The right to serve a data folder, or undefined when a live process has it. A command that looks whether it is taken
 * holds it for a moment, so one refusal is not believed.
 */
export async function takeServeLock(folder: DataFolder): Promise<InstanceLock | undefined> {
  requireWritable(folder);
  return take(folder.serveLock, serveWaitMsMax);
}

/** Whether a process serves this folder now. */
export function isServed({ serveLock }: DataFolder): boolean {
  const lock = takeInstanceLock(serveLock);
  lock?.release();
  return lock === undefined;
}

/** Runs `work` while no other process does so under the same lock. Throws `unavailable` after half a minute. */
export async function alone<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = await take(path, waitMsMax);
  if (lock === undefined) {
    const detail = `Another command has kept ${path} locked for ${waitMsMax / 1_000} seconds; try again when it has ended.`;
    throw new DomainError('unavailable', detail);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function take(path: string, forMs: number): Promise<InstanceLock | undefined> {
  const deadline = performance.now() + forMs;
  for (;;) {
    const lock = takeInstanceLock(path);
    if (lock !== undefined || performance.now() > deadline) return lock;
    await Bun.sleep(pollMs);
  }
}
