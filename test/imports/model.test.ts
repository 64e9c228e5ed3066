import { describe, test } from 'bun:test';
import * as fc from 'fast-check';
import type { Dialect } from '../../src/storage/database.ts';
import { dialects } from '../support/database.ts';
import { takeSteps } from './model-course.ts';
import { steps } from './random-files.ts';

/** Sequences of each engine. `bun test/imports/model-search.ts` looks for as long as it is told to. */
const sequences: Readonly<Record<Dialect, number>> = { sqlite: 90, postgres: 30 };
/** The same sequences every time: what a search has newly found is mended on its own, not by whoever changes something else. */
const seed = 20_261_121;

describe.each(dialects())('people on %s', (dialect) => {
  test('are after any files, changes over SCIM and by Power Users what a notebook would say', async () => {
    const property = fc.asyncProperty(steps, (taken) => takeSteps(dialect, taken));
    await fc.assert(property, { numRuns: sequences[dialect], seed });
  }, 300_000);
});
