/** What a server's requests cost in one round, by phase: CPU microseconds. */
export type Costs = ReadonlyMap<string, number>;

/** A share by which a round may still be cheaper than the cheapest before it and count as no cheaper. */
const settledShare = 0.02;
const settledRounds = 2;
export const warmUpRoundsMax = 8;

/**
 * Whether a server is warm: each of its last two rounds was no cheaper than the cheapest before it, by the geometric
 * mean over the phases, and but for 2 %. `rounds` are in the order in which they ran.
 */
export function hasSettled(rounds: readonly Costs[]): boolean {
  if (rounds.length <= settledRounds) return false;
  return rounds.slice(-settledRounds).every((latest, i) => {
    const before = rounds.slice(0, rounds.length - settledRounds + i);
    return meanRatio(latest, cheapest(before)) >= 1 - settledShare;
  });
}

/** Of each phase the least that any of the rounds has cost. */
function cheapest(rounds: readonly Costs[]): Costs {
  const least = new Map<string, number>();
  for (const round of rounds) {
    for (const [phase, cost] of round) least.set(phase, Math.min(cost, least.get(phase) ?? cost));
  }
  return least;
}

/** Geometric mean of latest ÷ former: a phase of milliseconds weighs no more than one of microseconds. */
function meanRatio(latest: Costs, former: Costs): number {
  const logs = [...latest].flatMap(([phase, cost]) => {
    const before = former.get(phase) ?? 0;
    return cost > 0 && before > 0 ? [Math.log(cost / before)] : [];
  });
  return Math.exp(logs.reduce((sum, log) => sum + log, 0) / Math.max(logs.length, 1));
}
