import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog, type Log } from '../../src/log.ts';
import type { RequestRecord } from '../../src/requests/record.ts';
import { RequestLog } from '../../src/requests/request-log.ts';
import { RequestReader } from '../../src/requests/request-reader.ts';
import { testClock } from '../support/app.ts';

/** A folder with a request log in it, and what that says to the service's own log. */
export class LogHouse implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'rollcall-requests-'));
  readonly path: string;
  readonly clock = testClock();
  readonly said: string[] = [];
  readonly #opened: RequestLog[] = [];

  constructor(path = 'requests.db') {
    this.path = join(this.folder, path);
  }

  /** The service's own log. */
  log(): Log {
    return createLog({ level: 'debug', destination: { write: (line) => void this.said.push(line) } });
  }

  /** A log that writes when it is told to, or when its buffer is full. */
  open(): RequestLog {
    const opened = new RequestLog({
      path: this.path,
      clock: this.clock,
      log: this.log(),
      waitMs: 60_000,
    });
    this.#opened.push(opened);
    return opened;
  }

  read<T>(work: (reader: RequestReader) => T): T {
    using reader = new RequestReader(this.path);
    return work(reader);
  }

  /** The paths in the log, oldest first. */
  paths(): string[] {
    const { requests } = this.read((reader) => reader.page({}, { limit: 1_000 }));
    return requests.map(({ path }) => path).toReversed();
  }

  [Symbol.dispose](): void {
    for (const log of this.#opened) log.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function requestRecord(fields: Partial<RequestRecord> = {}): RequestRecord {
  return {
    timeMs: Date.parse('2030-01-01T00:00:00.000Z'),
    durationMs: 1.25,
    sourceId: 1,
    method: 'GET',
    path: '/Users',
    query: null,
    status: 200,
    clientAddress: '127.0.0.1',
    requestId: 'r',
    touched: [],
    name: null,
    refusal: null,
    repairs: [],
    ignored: [],
    bulk: null,
    body: null,
    decoded: null,
    isAtGate: false,
    ...fields,
  };
}
