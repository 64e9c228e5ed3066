// Everything hostile that is sent. The test beside the executable looks at the answers; the bench sends the same and prints
// time and memory.

import type { Attack } from './attack.ts';
import { hostileBodies } from './attack-bodies.ts';
import { hostileDocuments } from './attack-documents.ts';

export const attacks: readonly Attack[] = [...hostileDocuments, ...hostileBodies];
