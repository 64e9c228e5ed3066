/** Requests that may be logged in a burst, and for each second after, of those that the gate refused. */
const atGateBurst = 200;
const atGatePerSecond = 10;
const sourcesMax = 10_000;
const codesMax = 1_000;
/** Stands for a caller without a token that is in force. */
const nobody = 0;

interface Allowance {
  left: number;
  sinceMs: number;
}

/** What this process has seen of each source since it started: for metrics, and so that a flood cannot fill the log. */
export class SourceActivity {
  readonly #lastRequestMs = new Map<number, number>();
  readonly #repairs = new Map<number, Map<string, number>>();
  readonly #allowances = new Map<number, Allowance>();
  #unlogged = 0;

  /** Refused requests that were not logged because too many came at once. */
  get unlogged(): number {
    return this.#unlogged;
  }

  request(sourceId: number, nowMs: number): void {
    if (this.#lastRequestMs.size < sourcesMax || this.#lastRequestMs.has(sourceId))
      this.#lastRequestMs.set(sourceId, nowMs);
  }

  /** When the source last sent something; undefined when it has not since the start. */
  lastRequestMs(sourceId: number): number | undefined {
    return this.#lastRequestMs.get(sourceId);
  }

  repaired(sourceId: number, code: string): void {
    const known = this.#repairs.get(sourceId) ?? new Map<string, number>();
    if (!this.#repairs.has(sourceId) && this.#repairs.size >= sourcesMax) return;
    this.#repairs.set(sourceId, known);
    if (known.has(code) || known.size < codesMax) known.set(code, (known.get(code) ?? 0) + 1);
  }

  /** `[source, code, times]` for every repair since the start. */
  repairs(): [sourceId: number, code: string, count: number][] {
    return [...this.#repairs].flatMap(([sourceId, counts]) =>
      [...counts].map(([code, count]): [number, string, number] => [sourceId, code, count]),
    );
  }

  /** Whether one more request that was refused at the gate may be logged; null for an unknown caller. */
  mayLogRefusal(sourceId: number | null, nowMs: number): boolean {
    const allowance = this.#allowance(sourceId ?? nobody, nowMs);
    const refilled = (Math.max(0, nowMs - allowance.sinceMs) / 1_000) * atGatePerSecond;
    allowance.left = Math.min(atGateBurst, allowance.left + refilled);
    allowance.sinceMs = nowMs;
    if (allowance.left < 1) {
      this.#unlogged += 1;
      return false;
    }
    allowance.left -= 1;
    return true;
  }

  #allowance(key: number, nowMs: number): Allowance {
    const known = this.#allowances.get(key);
    if (known !== undefined) return known;
    if (this.#allowances.size >= sourcesMax) this.#allowances.clear();
    const allowance = { left: atGateBurst, sinceMs: nowMs };
    this.#allowances.set(key, allowance);
    return allowance;
  }
}
