import type { PhaseResult } from './rounds.ts';

/** Servers that the npm registry does not have; they cannot run beside ours. */
type Absent = 'scimgateway' | 'elimity-com/scim';

interface Promised {
  readonly phase: string;
  /** CPU of its request divided by the limit's, when the design measured both in one run. */
  readonly overLimit: number;
  readonly must: number;
  readonly aim: number;
}

/** An estimate: both servers were compared with the same limit, on different machines and days. */
export interface Estimate {
  readonly server: Absent;
  readonly phase: string;
  readonly ratio: number;
  readonly must: number;
  readonly aim: number;
}

const promised: Readonly<Record<Absent, readonly Promised[]>> = {
  scimgateway: [
    { phase: 'create', overLimit: 275 / 76, must: 1.2, aim: 3 },
    { phase: 'get', overLimit: 120 / 11, must: 4, aim: 8 },
    { phase: 'userName eq', overLimit: 187 / 14, must: 4, aim: 8 },
    { phase: 'PATCH one attribute', overLimit: 188 / 55, must: 1.2, aim: 2.5 },
    { phase: 'add 1 member to 1,200', overLimit: 1_363 / 59, must: 5, aim: 15 },
  ],
  'elimity-com/scim': [
    { phase: 'create', overLimit: 120 / 76, must: 0.5, aim: 1.2 },
    { phase: 'get', overLimit: 41 / 11, must: 1.5, aim: 3 },
    { phase: 'userName eq', overLimit: 273 / 14, must: 1.5, aim: 3 },
    { phase: 'PATCH one attribute', overLimit: 218 / 55, must: 1.2, aim: 2.5 },
    { phase: 'add 1 member to 1,200', overLimit: 690 / 59, must: 2.5, aim: 8 },
  ],
};

/** Their CPU divided by ours, through the limit: theirs ÷ limit then, times limit ÷ ours now. */
export function estimates(phases: readonly PhaseResult[]): Estimate[] {
  const servers = Object.keys(promised) as Absent[];
  return servers.flatMap((server) =>
    promised[server].flatMap(({ phase, overLimit, must, aim }) => {
      const measured = phases.find((each) => each.phase === phase);
      if (measured === undefined) return [];
      return [{ server, phase, ratio: overLimit * measured.cpuRatio, must, aim }];
    }),
  );
}
