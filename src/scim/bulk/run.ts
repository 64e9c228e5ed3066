import { type Clock, timestamp } from '../../clock.ts';
import { DomainError } from '../../errors.ts';
import { refusalOf } from '../../http/refusal.ts';
import type { ScimObject } from '../../resource/value.ts';
import type { ScimCall } from '../call.ts';
import { toResourceId } from '../decode.ts';
import type { AllVerbs, Target } from '../verbs.ts';
import { batchesOf } from './batches.ts';
import { type Plan, planOf } from './plan.ts';
import type { Change, Prepared } from './prepare.ts';
import { replaceReferences, shownBulkId } from './references.ts';

/** What came of an operation that was done. */
export interface Done {
  readonly status: 200 | 201 | 204;
  readonly id: number;
  /** Absent when the resource is gone. */
  readonly version?: number;
}

export type Outcome = Done | DomainError;

export interface BulkRunOptions {
  readonly call: ScimCall;
  readonly verbs: AllVerbs;
  readonly clock: Clock;
  /** How many failed operations end the run. */
  readonly failOnErrors: number | undefined;
}

/**
 * Does the operations in the order of the plan, each as a transaction of its own, and gives the outcome of each;
 * undefined for one that was not begun, because there were too many errors or because the client has gone.
 */
export async function runBulk(
  operations: readonly Prepared[],
  options: BulkRunOptions,
): Promise<readonly (Outcome | undefined)[]> {
  const run = new BulkRun(operations, options);
  await run.run();
  return run.outcomes;
}

class BulkRun {
  readonly outcomes: (Outcome | undefined)[];
  readonly #operations: readonly Prepared[];
  readonly #options: BulkRunOptions;
  readonly #plan: Plan;
  /** Ids of what has been created, by bulkId. */
  readonly #ids = new Map<string, number>();
  #errors = 0;

  constructor(operations: readonly Prepared[], options: BulkRunOptions) {
    this.#operations = operations;
    this.#options = options;
    this.#plan = planOf(operations);
    this.outcomes = operations.map(() => undefined);
  }

  async run(): Promise<void> {
    const { failOnErrors = Number.POSITIVE_INFINITY, call } = this.#options;
    for (const batch of this.#batches()) {
      if (this.#errors >= failOnErrors || call.context.signal?.aborted === true) return;
      await Promise.all(batch.map((index) => this.#do(index)));
    }
  }

  /** Nothing may be done after the error that ends the request, so then every operation is waited for. */
  #batches(): readonly (readonly number[])[] {
    if (this.#options.failOnErrors !== undefined) return this.#plan.order.map((index) => [index]);
    return batchesOf(this.#operations, this.#plan);
  }

  async #do(index: number): Promise<void> {
    // One of a ring has been done with the first of it.
    if (this.outcomes[index] !== undefined) return;
    const ring = this.#plan.rings.get(index);
    if (ring === undefined) await this.#single(index);
    else await this.#together(ring);
  }

  async #single(index: number): Promise<void> {
    const operation = this.#at(index);
    try {
      this.#note(index, await this.#perform(operation, this.#changeAt(index)));
    } catch (error) {
      this.#note(index, refusalOf(error));
      // A refusal may have waited for nothing; a thousand of them must not keep others waiting.
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** RFC 7644 §3.7.1: what refers to each other in a circle is done together, or not at all. */
  async #together(ring: readonly number[]): Promise<void> {
    try {
      const bodies = ring.map((index) => resourceOf(this.#changeAt(index)));
      const made = await this.#options.verbs.User.createRing(this.#callNow(), bodies);
      for (const [place, index] of ring.entries()) {
        const created = made[place];
        if (created !== undefined) this.#note(index, toDone(created));
      }
    } catch (error) {
      for (const index of ring) this.#note(index, this.#asOneOf(ring, refusalOf(error)));
    }
  }

  #asOneOf(ring: readonly number[], error: DomainError): DomainError {
    const numbers = ring.map((index) => this.#at(index).number).toSorted((a, b) => a - b);
    const listed = numbers.slice(0, 10).join(', ');
    const detail = `The operations ${listed} refer to each other and are done together or not at all: ${error.detail}`;
    return new DomainError(error.kind, detail, { cause: error.cause });
  }

  #note(index: number, outcome: Outcome): void {
    this.outcomes[index] = outcome;
    const { method, bulkId } = this.#at(index);
    if (outcome instanceof DomainError) this.#errors += 1;
    else if (method === 'POST' && bulkId !== undefined) this.#ids.set(bulkId, outcome.id);
  }

  #at(index: number): Prepared {
    const operation = this.#operations[index];
    if (operation === undefined) throw new Error(`the plan names the operation ${index}, which there is not`);
    return operation;
  }

  /** Throws what spoke against the operation from the start. */
  #changeAt(index: number): Change {
    const fault = this.#plan.faults.get(index);
    if (fault !== undefined) throw fault;
    const { change } = this.#at(index);
    if (change instanceof DomainError) throw change;
    return change;
  }

  async #perform({ trace }: Prepared, change: Change): Promise<Done> {
    const call = { ...this.#callNow(), trace };
    const verbs = this.#options.verbs[change.target.type];
    const content = replaceReferences(change.content, (bulkId) => String(this.#idOf(bulkId)));
    if (change.method === 'POST') return toDone(await verbs.create(call, resourceOf({ content })));
    const target = this.#targetOf(change);
    if (content.kind === 'nothing') {
      await verbs.delete(call, target);
      return { status: 204, id: target.id };
    }
    const { id, version } =
      content.kind === 'resource'
        ? await verbs.replace(call, target, content.resource)
        : await verbs.patch(call, target, content.operations);
    return { status: 200, id, version };
  }

  #targetOf({ target, ifMatch }: Change): Target {
    const id = target.bulkId === undefined ? toResourceId(target.id ?? '') : this.#idOf(target.bulkId);
    return { id, ifMatch };
  }

  #idOf(bulkId: string): number {
    const id = this.#ids.get(bulkId);
    if (id !== undefined) return id;
    const maker = this.#operations.find((each) => each.method === 'POST' && each.bulkId === bulkId);
    const detail = `The resource with the bulkId "${shownBulkId(bulkId)}" is not there, because operation ${maker?.number} failed.`;
    throw new DomainError('conflict', detail);
  }

  /** A Bulk takes a while, and what it changes last was not changed when it came. */
  #callNow(): ScimCall {
    const { call, clock } = this.#options;
    return { ...call, context: { ...call.context, now: timestamp(clock) } };
  }
}

function toDone({
  outcome,
  resource,
}: {
  readonly outcome: 'created' | 'matched';
  readonly resource: { readonly id: number; readonly version: number };
}): Done {
  const { id, version } = resource;
  return { status: outcome === 'created' ? 201 : 200, id, version };
}

function resourceOf({ content }: Pick<Change, 'content'>): ScimObject {
  if (content.kind !== 'resource') throw new Error('a POST was prepared without a resource');
  return content.resource;
}
