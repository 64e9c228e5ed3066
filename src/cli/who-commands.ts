import { userInfo } from 'node:os';
import type { Decider } from '../imports/run-event-store.ts';

/** Whoever runs this command line, by the name of the user of the operating system. */
export function whoCommands(): Decider {
  try {
    return { kind: 'command', name: userInfo().username };
  } catch {
    // A container may run under a number that has no name.
    return { kind: 'command' };
  }
}
