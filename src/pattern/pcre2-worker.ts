// The thread on which PCRE2 runs: it can be ended in the middle of a match, which nothing else can.
// It is an entry of its own in scripts/build.ts; pcre2-runner.ts starts it and is the only one it talks to.

import { parentPort } from 'node:worker_threads';
import { PatternError } from './pattern-error.ts';
import { compilePcre2, type Pcre2Pattern, type Pcre2Result } from './pcre2.ts';
import { loadPcre2Module } from './pcre2-module.ts';

export interface Pcre2Job {
  readonly pattern: string;
  /** Absent: the pattern is only compiled. */
  readonly text?: string;
}

export type Pcre2Answer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'compiled' }
  | { readonly kind: 'result'; readonly result: Pcre2Result }
  | { readonly kind: 'pattern-error'; readonly message: string; readonly offset: number | undefined }
  | { readonly kind: 'failure'; readonly message: string };

/** One compiled pattern is kept: there is one setting, and it seldom changes. */
let kept: { readonly pattern: string; readonly compiled: Pcre2Pattern } | undefined;

async function compiled(pattern: string): Promise<Pcre2Pattern> {
  if (kept?.pattern === pattern) return kept.compiled;
  const fresh = await compilePcre2(pattern);
  kept?.compiled.dispose();
  kept = { pattern, compiled: fresh };
  return fresh;
}

async function answer({ pattern, text }: Pcre2Job): Promise<Pcre2Answer> {
  try {
    const rule = await compiled(pattern);
    return text === undefined ? { kind: 'compiled' } : { kind: 'result', result: rule.test(text) };
  } catch (error) {
    if (error instanceof PatternError) {
      return { kind: 'pattern-error', message: error.message, offset: error.offset };
    }
    return { kind: 'failure', message: error instanceof Error ? error.message : String(error) };
  }
}

function say(said: Pcre2Answer): void {
  parentPort?.postMessage(said);
}

// Loaded first, so that the time of a job is the time of its match.
await loadPcre2Module();
parentPort?.on('message', async (job: Pcre2Job) => say(await answer(job)));
say({ kind: 'ready' });
