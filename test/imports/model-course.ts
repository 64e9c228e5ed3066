// A sequence of steps, taken both by the service and by a NaiveDirectory, with everybody compared after each.

import assert from 'node:assert/strict';
import type { ImportRun } from '../../src/imports/runs.ts';
import type { Dialect } from '../../src/storage/database.ts';
import { actual, expected, ModelHouse, recognise } from './model-house.ts';
import { type Group, NaiveDirectory, type Outcome } from './naive-directory.ts';
import { NaiveImport } from './naive-import.ts';
import {
  type FileSpec,
  isPowerStep,
  type PowerStep,
  type ScimStep,
  type Step,
  type UnitType,
} from './random-files.ts';

/** Throws where service and notebook differ. */
export async function takeSteps(dialect: Dialect, steps: readonly Step[]): Promise<void> {
  await using house = await ModelHouse.open(dialect);
  const course = new Course(house);
  for (const step of steps) await course.take(step);
}

/** A house and a notebook that tell of the same. */
class Course {
  readonly #house: ModelHouse;
  readonly #directory = new NaiveDirectory();
  #last: FileSpec | undefined;

  constructor(house: ModelHouse) {
    this.#house = house;
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'file') await this.#import(step.file);
    else if (step.kind === 'again') await this.#repeat();
    else if (isPowerStep(step)) await this.#power(step);
    else await this.#scim(step);
    await this.#compare(step);
  }

  async #import(file: FileSpec): Promise<ImportRun> {
    const defaults = this.#defaultsOf(file);
    if (file.dryRun) {
      const before = await this.#house.rows();
      const run = await this.#house.import(file, defaults);
      assert.deepEqual(await this.#house.rows(), before);
      const { created, updated, reactivated, disabled, archived } = run.counts;
      assert.equal(created + updated + reactivated + disabled + archived, 0);
      return run;
    }
    this.#last = file;
    const run = await this.#house.import(file, defaults);
    const outcome = new NaiveImport(this.#directory, file, defaults).apply();
    assert.match(run.status, /^completed/, `${run.message}\n${this.#house.house.logged.at(-1)}`);
    const issues = await this.#house.house.runs.issues(run.id);
    assert.deepEqual(
      issues.map(({ recordId, code }) => `${recordId} ${code}`).sort(),
      [...outcome.issues].sort(),
    );
    checkCounts(run, outcome);
    return run;
  }

  /** The same file, at once: nothing is left for it to change, unless something went wrong the first time. */
  async #repeat(): Promise<void> {
    const file = this.#last;
    if (file === undefined) return;
    const first = await this.#import(file);
    await this.#compare({ kind: 'again' });
    const before = await this.#house.rows();
    await this.#import(file);
    if (first.status === 'completed') assert.deepEqual(await this.#house.rows(), before);
  }

  #defaultsOf({ defaults, groups }: FileSpec): ReadonlyMap<UnitType, Group> {
    const found = new Map<UnitType, Group>();
    for (const [type, place] of Object.entries(defaults) as [UnitType, number][]) {
      const group = this.#directory.groups.filter((each) => each.type === type)[place];
      // One that the file renames would be named in it by what it was called before.
      if (group !== undefined && groups.length === 0) found.set(type, group);
    }
    return found;
  }

  async #power(step: PowerStep): Promise<void> {
    const person = this.#directory.power(step);
    if (person !== undefined) await this.#house.change(person);
  }

  async #scim(step: ScimStep): Promise<void> {
    const about = this.#directory.scim(step);
    if (about === undefined) return;
    const status = await this.#house.send(step, about, this.#directory);
    assert.ok(status >= 200 && status < 300, `${step.kind} was answered with ${status}`);
  }

  async #compare(step: Step): Promise<void> {
    const stored = await this.#house.stored();
    recognise(this.#directory, stored);
    const people = this.#directory.people.toSorted((one, other) => (one.id ?? 0) - (other.id ?? 0));
    assert.deepEqual(
      { step: step.kind, people: stored.map(actual) },
      {
        step: step.kind,
        people: people.map(expected),
      },
    );
  }
}

function checkCounts({ status, counts }: ImportRun, { issues, counts: told, isVague }: Outcome): void {
  assert.equal(status, issues.length === 0 ? 'completed' : 'completed-with-errors');
  const fates = ['created', 'reactivated', 'disabled', 'archived', 'skipped'] as const;
  const same = ['updated', 'unchanged'] as const;
  const of = (name: string) => told[name] ?? 0;
  assert.deepEqual(
    fates.map((name) => [name, counts[name]]),
    fates.map((name) => [name, of(name)]),
  );
  assert.equal(counts.updated + counts.unchanged, of('updated') + of('unchanged'));
  if (!isVague)
    assert.deepEqual(
      same.map((name) => [name, counts[name]]),
      same.map((name) => [name, of(name)]),
    );
}
