import { Counter, Gauge, Registry } from 'prom-client';
import { Durations } from './durations.ts';

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

/** Counts for Prometheus. Labels come from closed sets, never from what a client sends. */
export class HttpMetrics {
  readonly #registry = new Registry();
  readonly #durations = new Durations();

  constructor(version: string) {
    const registers = [this.#registry];
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

  /** One request that was answered. */
  observe(surface: string, method: string, status: number, seconds: number): void {
    this.#durations.observe(surface, method, status, seconds);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Everything in the text format of Prometheus. */
  async text(): Promise<string> {
    return `${this.#durations.text()}\n${await this.#registry.metrics()}`;
  }

  /** Values that something else keeps; the labels come from closed sets here too. */
  series({ name, help, type, labels, read }: Series): void {
    const Kind = type === 'counter' ? Counter : Gauge;
    new Kind({
      name,
      help,
      labelNames: [...labels],
      registers: [this.#registry],
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
      registers: [this.#registry],
      async collect() {
        this.set(await read());
      },
    });
  }
}
