// A whole service, as app.ts builds it, around the parts of an import house.

import { join } from 'node:path';
import type { AppParts } from '../../src/app.ts';
import { RequestLog } from '../../src/requests/request-log.ts';
import type { ImportHouse } from './support.ts';

export function partsOf(house: ImportHouse): AppParts {
  return {
    ...house,
    secretBox: house.secretBox,
    clock: house.clock,
    requests: new RequestLog({ ...house, path: join(house.folder, 'requests.db') }),
    hosts: { publicUrl: undefined, allowedHosts: [], trustedProxies: [] },
    metricsFrom: [],
    version: '1.2.3',
    createRequestId: () => crypto.randomUUID(),
    processor: { isRunning: true, restarts: 0 },
  };
}
