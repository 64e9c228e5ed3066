// Looks for sequences of files and changes after which the service differs from the notebook, for as long as it is told
// to: bun test/imports/model-search.ts [sqlite|postgres] [seconds] [seed]. Prints the shortest one that it has found.

import { format } from 'node:util';
import * as fc from 'fast-check';
import { takeSteps } from './model-course.ts';
import { steps } from './random-files.ts';

const [engine = 'sqlite', seconds = '60', seed] = process.argv.slice(2);
const dialect = engine === 'postgres' ? 'postgres' : 'sqlite';
const property = fc.asyncProperty(steps, (taken) => takeSteps(dialect, taken));
const found = await fc.check(property, {
  numRuns: 1_000_000,
  interruptAfterTimeLimit: Number(seconds) * 1_000,
  ...(seed === undefined ? {} : { seed: Number(seed) }),
});
const { numRuns, failed, counterexample, errorInstance } = found;
process.stdout.write(`${numRuns} sequences, seed ${found.seed}\n`);
if (failed && counterexample !== null) {
  for (const step of counterexample[0]) process.stdout.write(`${JSON.stringify(step)}\n`);
  process.stdout.write(format('%s\n', errorInstance));
  process.exitCode = 1;
}
