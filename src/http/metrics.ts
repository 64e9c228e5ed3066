import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Observation {
  readonly surface: string;
  readonly method: string;
  readonly status: number;
  readonly durationSeconds: number;
}

/** One value for each combination of labels, read when the metrics are. */
export interface Series {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly labels: readonly string[];
  readonly read: () => readonly SeriesValue[] | Promise<readonly SeriesValue[]>;
}

export interface SeriesValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

const bucketsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** Counts for Prometheus. Labels come from closed sets, never from what a client sends. */
export class HttpMetrics {
  readonly registry = new Registry();
  readonly #durations: Histogram<'surface' | 'method' | 'status'>;

  constructor(version: string) {
    const registers = [this.registry];
    this.#durations = new Histogram({
      name: 'rollcall_http_request_duration_seconds',
      help: 'Time from the request line to the answer, by surface, method and status class',
      labelNames: ['surface', 'method', 'status'],
      buckets: bucketsSeconds,
      registers,
    });
    const info = new Gauge({
      name: 'rollcall_info',
      help: 'The release',
      labelNames: ['version'],
      registers,
    });
    info.set({ version }, 1);
    new Gauge({
      name: 'rollcall_resident_memory_bytes',
      help: 'Resident memory of the serving process',
      registers,
      collect() {
        this.set(process.memoryUsage.rss());
      },
    });
  }

  observe({ surface, method, status, durationSeconds }: Observation): void {
    const labels = {
      surface,
      method: methods.has(method) ? method : 'other',
      status: `${Math.floor(status / 100)}xx`,
    };
    this.#durations.observe(labels, durationSeconds);
  }

  /** Values that something else keeps; the labels come from closed sets here too. */
  series({ name, help, type, labels, read }: Series): void {
    const Kind = type === 'counter' ? Counter : Gauge;
    new Kind({
      name,
      help,
      labelNames: [...labels],
      registers: [this.registry],
      async collect() {
        this.reset();
        for (const { labels, value } of await read()) this.inc(labels, value);
      },
    });
  }

  /** A gauge that is read when the metrics are. */
  gauge(name: string, help: string, read: () => Promise<number> | number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      async collect() {
        this.set(await read());
      },
    });
  }
}
