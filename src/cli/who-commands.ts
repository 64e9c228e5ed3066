import { userInfo } from 'node:os';
import type { Operator } from '../security/audit.ts';

/**
 * Whoever runs this command line. The name is what the environment says, and may be missing or wrong; the number is the
 * operating system's.
 */
export function whoCommands(): Operator {
  const uid = process.getuid?.();
  const names = [readName(), uid === undefined ? '' : `uid ${uid}`].filter((name) => name !== '');
  return names.length === 0 ? { kind: 'command' } : { kind: 'command', name: names.join(', ') };
}

function readName(): string {
  try {
    const { username } = userInfo();
    return username === 'unknown' ? '' : username;
  } catch {
    // A container may run under a number that has no name.
    return '';
  }
}
