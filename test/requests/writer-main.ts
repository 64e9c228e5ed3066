// Appends a record every few milliseconds and says so, until it is killed or has written `count` of them.
// usage: bun writer-main.ts PATH COUNT

import { createLog } from '../../src/log.ts';
import { RequestLog } from '../../src/requests/request-log.ts';
import { requestRecord } from './support.ts';

const [path = '', count = '0'] = process.argv.slice(2);
const log = createLog({ level: 'info' });
const requests = new RequestLog({ path, clock: () => new Date(), log });
for (let number = 1; number <= Number(count); number += 1) {
  const filler = 'x'.repeat(2_000);
  requests.append(requestRecord({ path: `/Users/${number}`, body: filler }));
  process.stdout.write(`${number} ${Date.now()}\n`);
  await Bun.sleep(1);
}
requests.close();
process.stdout.write(`dropped ${requests.dropped}\n`);
