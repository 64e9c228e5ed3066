const name = 'rollcall_http_request_duration_seconds';
const help = 'Time from the request line to the answer, by surface, method and status class';
const boundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

interface Histogram {
  readonly labels: string;
  /** Requests by the first bound that they did not exceed; those beyond the last bound are in `count` alone. */
  readonly buckets: number[];
  count: number;
  sumSeconds: number;
}

/**
 * How long requests took, as a histogram of Prometheus. It is kept here because the library makes texts of the labels
 * anew for each request, which takes longer than routing it.
 */
export class Durations {
  readonly #histograms = new Map<string, Histogram>();

  /** Labels come from closed sets, never from what a client sends: `surface` is a name of ours. */
  observe(surface: string, method: string, status: number, seconds: number): void {
    const histogram = this.#histogramOf(surface, methods.has(method) ? method : 'other', status);
    const bucket = boundsSeconds.findIndex((bound) => seconds <= bound);
    if (bucket !== -1) histogram.buckets[bucket] = (histogram.buckets[bucket] ?? 0) + 1;
    histogram.count += 1;
    histogram.sumSeconds += seconds;
  }

  text(): string {
    const all = [...this.#histograms.values()].flatMap(linesOf);
    const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...all];
    return `${lines.join('\n')}\n`;
  }

  #histogramOf(surface: string, method: string, status: number): Histogram {
    const statusClass = Math.floor(status / 100);
    const key = `${surface} ${method} ${statusClass}`;
    const known = this.#histograms.get(key);
    if (known !== undefined) return known;
    const labels = `surface="${surface}",method="${method}",status="${statusClass}xx"`;
    const histogram = { labels, buckets: boundsSeconds.map(() => 0), count: 0, sumSeconds: 0 };
    this.#histograms.set(key, histogram);
    return histogram;
  }
}

function linesOf({ labels, buckets, count, sumSeconds }: Histogram): string[] {
  let below = 0;
  const lines = boundsSeconds.map((bound, index) => {
    below += buckets[index] ?? 0;
    return `${name}_bucket{le="${bound}",${labels}} ${below}`;
  });
  return [
    ...lines,
    `${name}_bucket{le="+Inf",${labels}} ${count}`,
    `${name}_sum{${labels}} ${sumSeconds}`,
    `${name}_count{${labels}} ${count}`,
  ];
}
