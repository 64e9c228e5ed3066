import { type Attack, attackDocumentBytesMax, attacked, sendAttack } from '../test/support/attack.ts';
import { attacks } from '../test/support/attack-list.ts';
import { PeakMemory, quantile } from './measure.ts';
import type { BenchContext } from './options.ts';
import { createSource, type MadeSource, type Server, setSetting, startProduct } from './server.ts';

export interface AttackResult {
  readonly name: string;
  readonly status: number;
  readonly sentence: string;
  readonly at: readonly [line: number, column: number] | undefined;
  readonly ms: number;
  /** Peak of the process that judged the document; absent where none was started. */
  readonly inspectMib: number | undefined;
  /** Peak of the server so far. */
  readonly serveMib: number;
}

export interface AttacksResult {
  readonly attacks: readonly AttackResult[];
  /** Of SCIM requests meanwhile, one after the other. */
  readonly scim: {
    readonly requests: number;
    readonly failed: number;
    readonly p50Ms: number;
    readonly p99Ms: number;
    readonly maxMs: number;
  };
}

const sampleMs = 5;
const pauseMs = 5;

/** Sends everything hostile, one after the other, while an identity provider reads. */
export async function measureAttacks({ executable, folder, say }: BenchContext): Promise<AttacksResult> {
  const server = await startProduct(executable, folder);
  try {
    const source = createSource(executable, folder, { kind: 'general', name: attacked.name });
    const settings = ['rateLimit=0'];
    const scim = createSource(executable, folder, { kind: 'scim', name: 'probe', settings });
    setSetting(executable, folder, ['documentBytesMax', String(attackDocumentBytesMax)]);
    say(`attacks: ${attacks.length} of them`);
    const ready = attacks.map(withBody);
    const probe = startProbe(server, scim);
    const results: AttackResult[] = [];
    for (const attack of ready) {
      using peak = new PeakMemory(server.pid, sampleMs);
      const answer = await sendAttack(server.origin, source.token, attack);
      const { inspect, serve = 0 } = peak.peaks();
      results.push({ name: attack.name, ...answer, inspectMib: inspect, serveMib: serve });
    }
    return { attacks: results, scim: await probe() };
  } finally {
    await server.stop();
  }
}

/** Made beforehand: the process that makes it could not ask anything meanwhile. */
function withBody(attack: Attack): Attack {
  const body = attack.body();
  return { ...attack, body: () => body };
}

/** Resolves, when it is called, with what was found since. */
function startProbe({ origin }: Server, { token }: MadeSource): () => Promise<AttacksResult['scim']> {
  const times: number[] = [];
  let failed = 0;
  let isStopped = false;
  const asking = (async () => {
    while (!isStopped) {
      const startedMs = performance.now();
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${origin}/api/v2/scim/v2/Users?count=1`, { headers });
      await response.arrayBuffer();
      times.push(performance.now() - startedMs);
      if (!response.ok) failed += 1;
      await Bun.sleep(pauseMs);
    }
  })();
  return async () => {
    isStopped = true;
    await asking;
    const [p50Ms, p99Ms, maxMs] = [quantile(times, 0.5), quantile(times, 0.99), Math.max(...times)];
    return { requests: times.length, failed, p50Ms, p99Ms, maxMs };
  };
}
